"""How commands reach a running `crosswind up`: what they say, who asks, who answers."""
