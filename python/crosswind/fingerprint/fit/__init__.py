"""Conditions that give what was measured: models of rates and of delays, and how well each fits."""
