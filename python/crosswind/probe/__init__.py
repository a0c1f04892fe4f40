"""Measurements between two ends: single packets, floods, and a bare veth pair for comparison."""
