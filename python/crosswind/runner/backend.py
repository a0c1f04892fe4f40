"""Checks of a backend before a run starts."""

from __future__ import annotations

from crosswind.backends import refuse_what_emulators_do
from crosswind.backends.ovs.bridges import Bridges
from crosswind.backends.ovs.mapping import settings_of
from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.mapping import control_of
from crosswind.errors import CrosswindError
from crosswind.spec import Resolved, fabric_of
from crosswind.spec.resolved import ResolvedBackend
from crosswind.testbed import NotHere
from crosswind.testbed.backend_programs import missing_programs
from crosswind.testbed.kernel_modules import lacking_modules


def check_backend(resolved: Resolved) -> None:
    """Check that the backend of an experiment can carry it, and that its programs are here.

    Raises:
        NotCarried: an element or a setting that it lacks; names the place, and a backend that has it.
        NotHere: a program, or a module of the kernel, is missing; names it.
    """
    backend = resolved.backend
    if backend is None:
        return
    refuse_what_emulators_do(backend.name, resolved)
    needed = {module for name in resolved.conditions for module in _modules(resolved, backend, name.name)}
    if lacking := missing_programs(backend.name):
        raise NotHere("\n".join(lacking))
    if needed and (modules := lacking_modules(sorted(needed))):
        raise NotHere(
            f"backend tc: this kernel lacks {', '.join(modules)}; load them (sudo modprobe NAME), use a "
            f"kernel that has them, or write backend: crosswind. {_who_needs(resolved, backend, modules)}"
        )


def lack_of_backend(resolved: Resolved) -> list[str]:
    """Return why the backend of an experiment cannot carry it here; empty where it can."""
    try:
        check_backend(resolved)
    except CrosswindError as why:
        return [str(why)]
    return []


def _modules(resolved: Resolved, backend: ResolvedBackend, condition: str) -> list[str]:
    """Return the modules of the kernel that a condition needs; refuse what the backend lacks."""
    spec = fabric_of(resolved, condition)
    if backend.name == "ovs":
        settings_of(spec, spec.condition, Bridges(spec), backend.police or "meter")
        return []
    return control_of(spec, spec.condition, Devices(spec)).modules()


def _who_needs(resolved: Resolved, backend: ResolvedBackend, modules: list[str]) -> str:
    who = {
        module: [
            each.name for each in resolved.conditions if module in _modules(resolved, backend, each.name)
        ]
        for module in modules
    }
    return "; ".join(f"{module}: needed under {', '.join(names[:5])}" for module, names in who.items())
