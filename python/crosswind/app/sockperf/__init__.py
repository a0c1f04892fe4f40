"""sockperf as an application: round trips of single messages, all of them recorded."""

from crosswind.app.sockperf.application import Sockperf, SockperfParameters

__all__ = ["Sockperf", "SockperfParameters"]
