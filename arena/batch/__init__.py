"""Many games at once, in numpy: the rules, observations, and games played again."""
