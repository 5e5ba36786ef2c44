"""A person plays against bots, in the terminal or on a local web page; it makes no rules."""
