"""Two networks, compared by their fingerprints: the document, its figures, and what differs."""
