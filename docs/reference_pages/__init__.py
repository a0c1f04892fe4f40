"""The pages of the reference that are generated from the code, one module per page (see docs/generate.py)."""
