"""nuttcp as an application: parallel transfers of TCP or UDP, each by a separate process."""

from crosswind.app.nuttcp.application import Nuttcp, NuttcpParameters

__all__ = ["Nuttcp", "NuttcpParameters"]
