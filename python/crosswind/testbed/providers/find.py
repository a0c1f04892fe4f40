"""Find a provider that can run; `crosswind.spec.testbed` reads what a file says of it."""

from crosswind.spec.installed import PROVIDERS
from crosswind.spec.resolved import ResolvedProvider
from crosswind.spec.restored import restored
from crosswind.testbed.providers.base import Provider


def find(name: str) -> type[Provider]:
    """Return the installed provider of that name.

    Raises:
        UnknownPlugin: no such provider is installed; the message lists those that are.
        BrokenPlugin: it cannot be imported, or is no provider; the message names its package.
    """
    return PROVIDERS.find(name, Provider)  # type: ignore[type-abstract]


def provider_of(resolved: ResolvedProvider) -> Provider:
    """Return the provider of a testbed, with its parameters."""
    kind = find(resolved.name)
    return kind(restored(kind.Parameters, resolved.parameters))
