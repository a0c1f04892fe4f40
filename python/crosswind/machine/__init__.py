"""Facts of this machine, read and not judged: what results depend on, and how programs are identified."""

from crosswind.machine.provenance import machine_fingerprint, provenance

__all__ = ["machine_fingerprint", "provenance"]
