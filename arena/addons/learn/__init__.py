"""Networks that learn: the opponent that beats a bot, and the probe that measures it."""
