"""Traffic of a chosen pattern among all nodes."""

from crosswind.app.traffic.application import Traffic
from crosswind.app.traffic.parameters import TrafficParameters

__all__ = ["Traffic", "TrafficParameters"]
