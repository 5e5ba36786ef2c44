"""Tests of the library behind `import arena`."""
