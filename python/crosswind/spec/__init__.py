"""The experiment file: read it, refuse it with everything that is wrong, or resolve it to SI integers."""
