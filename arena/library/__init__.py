"""The library behind `import arena`: what a command does, for programs and notebooks."""
