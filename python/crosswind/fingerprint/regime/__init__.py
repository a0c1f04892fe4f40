"""Bandwidth regimes: a network under one access pattern for hours, a point every few seconds."""
