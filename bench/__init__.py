"""Speed and size: one JSON line per figure, candidates alternated with a bare veth pair in the same run."""
