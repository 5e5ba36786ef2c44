"""One bot put through the whole contract, in its own processes, reported line by line.

`supervisor` starts the `inspector` in a process of its own and never runs a bot's code. The
inspector starts the bot's processes, so that a bot that kills its parent kills no command.
"""
