"""A local web page to play against bots, watch games and look at runs; it makes no rules."""
