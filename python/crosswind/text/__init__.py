"""Text and pictures for people: quantities, units, changes, and the parts of an HTML page."""
