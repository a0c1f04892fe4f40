"""Programs that read in a test what Crosswind exports: python tests/live/readers.py builds them, in minutes.

Prometheus is built without discovery of services in clouds and without its pages.
"""

import os

from crosswind.app.requirements.go_program import GoProgram
from crosswind.errors import CrosswindError

PROMETHEUS = GoProgram(
    "prometheus",
    "v0.316.0",  # As a module; the program calls itself 3.16.0.
    "github.com/prometheus/prometheus",
    "github.com/prometheus/prometheus/cmd/prometheus",
)
# The last of version 1, whose `main` is a package of its module and which needs no file of settings.
JAEGER = GoProgram(
    "jaeger-all-in-one",
    "v1.76.0",
    "github.com/jaegertracing/jaeger",
    "github.com/jaegertracing/jaeger/cmd/all-in-one",
)

if __name__ == "__main__":
    os.environ["GOFLAGS"] = "-tags=remove_all_sd"
    for program in (PROMETHEUS, JAEGER):
        try:
            program.install(print)
        except CrosswindError as reason:
            print(f"tests that need {program.name} will be skipped: {reason}")
