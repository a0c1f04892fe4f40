"""Speed and size: one JSON line per figure; most are measured in turns with a bare veth pair."""
