"""Check that a bot keeps the contract, with its code in separate processes.

`supervisor` starts the `inspector` in a separate process, and the inspector starts the bot's
processes, in the jail if the machine has one. Neither runs a bot's code itself. Outside the jail a
bot can attack both, and the report says so.
"""
