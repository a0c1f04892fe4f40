"""The pages of the reference that are made from the code, one module per page (see docs/generate.py)."""
