"""Random input: whatever it is, it is used or refused with one printable line, in bounded work.

`targets` has a function for each kind of input, and `strategies` what hypothesis makes of it.
"""
