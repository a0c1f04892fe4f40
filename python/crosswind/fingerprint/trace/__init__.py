"""Traces of rates and of delays: what they are, and readers for the files that other tools write."""
