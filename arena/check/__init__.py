"""Check that a bot keeps the contract, with its code in separate processes.

`supervisor` starts the `inspector` in a process of its own and never runs a bot's code. The
inspector starts the bot's processes, in the jail where there is one, and runs none of its code
either. Outside the jail a bot can reach both, and the report says that.
"""
