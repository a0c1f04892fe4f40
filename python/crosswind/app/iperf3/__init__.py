"""iperf3 as an application: parallel streams of TCP or UDP between two nodes."""

from crosswind.app.iperf3.application import Iperf3, Iperf3Parameters

__all__ = ["Iperf3", "Iperf3Parameters"]
