"""Readers of parameters: each reads, checks and sends one type of elements.json; one file for each idea.

`readers.keys_of_group` finds the readers of a mapping. A type with a name (`{"named": "buffer"}`) is a
compound that no generic type describes: files, traces, distributions of several keys.
"""
