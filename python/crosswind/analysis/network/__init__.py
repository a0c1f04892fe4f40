"""Fingerprints of networks: the document, its figures, and their comparison."""
