"""Facts of this machine that results depend on, and the versions of programs."""

from crosswind.machine.provenance import machine_fingerprint, provenance

__all__ = ["machine_fingerprint", "provenance"]
