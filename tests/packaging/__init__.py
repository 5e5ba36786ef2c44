"""The arena as it is installed: in a folder of another project, from a wheel, for type checkers."""
