"""Replicated databases as `ycsb` and `history` need them: installed, filled, started, restarted, stopped."""
