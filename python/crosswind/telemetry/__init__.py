"""What other tools of the field read: metrics for Prometheus, and runs as OpenTelemetry traces."""

from crosswind.telemetry.metrics import Metrics

__all__ = ["Metrics"]
