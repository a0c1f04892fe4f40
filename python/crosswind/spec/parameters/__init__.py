"""How a parameter is read, checked and sent, by the type that elements.json gives it; one file for each idea.

`readers.reader_of` finds the reader of a type. Those that a type names (`{"named": "buffer"}`) are compounds
that no generic type describes: files, traces, laws of several keys.
"""
