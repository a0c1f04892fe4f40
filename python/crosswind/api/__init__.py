"""The API behind `import crosswind`: results, runs, networks, and the pytest plugin.

Nothing is imported here: `crosswind.load` and the others are imported when they are first named, so that
`crosswind --help` is fast.
"""
