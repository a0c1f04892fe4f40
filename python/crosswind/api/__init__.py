"""What `import crosswind` gives to programs and tests: results, runs, networks, and the pytest plugin.

Nothing is imported here: `crosswind.load` and its like are imported when they are first named, so that
`crosswind --help` stays fast.
"""
