"""What holds for every test."""

from hypothesis import settings

# How long an example takes is the machine's business; `make bench` measures speed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
