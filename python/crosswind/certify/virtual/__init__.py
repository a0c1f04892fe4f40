"""Known answers in virtual time: the engine alone, exact, the same on every machine.

A file for each family; each has a function `claims` that yields them.
"""
