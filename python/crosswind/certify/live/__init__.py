"""Claims on this machine: the same elements with real packets and the wall clock.

Each family has a file with a function `claims`, which yields its claims. Every measurement is watched
(`quiet`): claims from a disturbed measurement are undecided, whatever its result.
"""
