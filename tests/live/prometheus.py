"""The Prometheus that reads our metrics in a test: python tests/live/prometheus.py builds it, in minutes.

Without discovery of services in clouds and without its pages, which its API does not need.
"""

import os

from crosswind.app.requirements.go_program import GoProgram

PROMETHEUS = GoProgram(
    "prometheus",
    "v0.316.0",  # As a module; the program calls itself 3.16.0.
    "github.com/prometheus/prometheus",
    "github.com/prometheus/prometheus/cmd/prometheus",
)

if __name__ == "__main__":
    os.environ["GOFLAGS"] = "-tags=remove_all_sd"
    PROMETHEUS.install(print)
