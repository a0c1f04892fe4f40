"""Fit conditions to measurements: models of rates and of delays, and how well each fits."""
