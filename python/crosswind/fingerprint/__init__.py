"""Measure a network, say what it is, and turn it into a condition."""
