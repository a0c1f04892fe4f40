"""The network between the machines of a testbed: all ordered pairs, measured by an agent on each."""
