"""Faults of a condition: what is cut between nodes, what happens to nodes, and a nemesis that chooses."""
