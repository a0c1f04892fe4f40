"""Which applications and variants can run on this machine now."""

from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.app.base import Application, Missing


@dataclass(frozen=True)
class Availability:
    """An application, or one variant of it.

    Attributes:
        name: as `crosswind apps install` takes it: `rpc`, `ycsb/postgresql`.
    """

    name: str
    missing: Sequence[Missing]

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing


def availability(application: type[Application]) -> list[Availability]:
    """Return the availability of each variant, and of the application itself if it can run without one."""
    variants = [
        Availability(f"{application.name}/{variant}", application.missing(variant))
        for variant in application.variants
    ]
    if variants and not application.variants_optional:
        return variants
    return [Availability(application.name, application.missing()), *variants]
