"""Many games at once, in numpy: rules, observations, and replays."""
