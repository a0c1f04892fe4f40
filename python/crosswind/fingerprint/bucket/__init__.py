"""Which token bucket is behind a trace of rates: budget, high and low rate, refill, with intervals."""
