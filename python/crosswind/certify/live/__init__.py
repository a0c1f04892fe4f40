"""Known answers on this machine, now: the same elements, real packets, the wall clock.

A file for each family; each has a function `claims` that yields them. Every measurement is watched (`quiet`):
what a disturbed machine showed is undecided, whatever it was.
"""
