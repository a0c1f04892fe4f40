"""What other tools of the field read: metrics for Prometheus, and runs as OpenTelemetry traces."""

from crosswind.telemetry.metrics import Metrics
from crosswind.telemetry.spans import trace_of

__all__ = ["Metrics", "trace_of"]
