"""Measure a network, describe it, and turn it into a condition."""
