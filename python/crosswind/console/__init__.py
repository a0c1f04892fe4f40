"""The live console: a page in the browser that shows the network while it runs, and changes its condition."""

from crosswind.console.console import Console

__all__ = ["Console"]
