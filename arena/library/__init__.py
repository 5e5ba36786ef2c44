"""The library behind `import arena`: the commands as functions for programs and notebooks."""
