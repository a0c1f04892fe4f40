"""nuttcp as an application: parallel transfers of TCP or UDP, each by a process of its own."""

from crosswind.app.nuttcp.application import Nuttcp, NuttcpParameters

__all__ = ["Nuttcp", "NuttcpParameters"]
