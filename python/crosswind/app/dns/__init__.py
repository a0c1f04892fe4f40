"""An authoritative name server, nsd, queried by dnsperf over UDP or TCP."""

from crosswind.app.dns.application import Dns, DnsParameters

__all__ = ["Dns", "DnsParameters"]
