"""Bandwidth regimes: a network under one access pattern for hours, with a point every few seconds."""
