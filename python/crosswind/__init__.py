"""Crosswind: a wind tunnel for distributed applications."""

__version__ = "0.1.0"
