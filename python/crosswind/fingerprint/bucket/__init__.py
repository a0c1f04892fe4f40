"""Find the token bucket behind a trace of rates: budget, high and low rate, refill, with intervals."""
