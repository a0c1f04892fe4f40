"""Traces of rates and of delays, and readers for the files of other tools."""
