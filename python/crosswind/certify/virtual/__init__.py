"""Claims in virtual time: the engine alone, with exact answers that are the same on every machine.

Each family has a file with a function `claims`, which yields its claims.
"""
