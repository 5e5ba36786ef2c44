"""Random input: whatever it is, it is used or refused with one printable line, in bounded work.

`targets` has a function for each kind of input, `strategies` what hypothesis makes of it, and
`guided` lets a coverage-guided fuzzer choose the bytes where atheris is installed.
"""
