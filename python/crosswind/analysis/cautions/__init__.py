"""What a reader must know before quoting a number of a run: all warnings, and which of them apply."""
