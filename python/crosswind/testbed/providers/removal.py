"""Remove machines whose run has ended without doing so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from crosswind.spec.resolved import ResolvedProvider
from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.testbed.providers.base import Found, Provider
from crosswind.testbed.providers.deployment import TAG, Deployment, recorded
from crosswind.testbed.providers.find import provider_of


@dataclass(frozen=True)
class Removal:
    """What became of everything with one tag.

    Attributes:
        why: it is not removed; empty where it is.
        failed: it should have been removed.
    """

    tag: str
    why: str = ""
    failed: bool = False

    @property
    def removed(self) -> bool:
        """Whether nothing with this tag is left."""
        return not self.why


def remove_ended(
    resolved: ResolvedProvider, tags: Collection[str], report: Callable[[str], None]
) -> Iterator[Removal]:
    """Remove everything of ended runs, and yield each tag when that is done.

    What was made on another machine may be in use there, so it is removed only where it is named.

    Args:
        tags: these only, wherever they were made; empty: all that were made on this machine.
        report: gets a line for each thing that exists, before the first is removed.

    Raises: TestbedError: the provider does not answer, or a tag is none.
    """
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise NotHere(f'tag "{tag}": is none of Crosswind\'s; write one such as crosswind-1a2b3c4d')
    provider = provider_of(resolved)
    by_tag: dict[str, list[Found]] = {}
    for each in provider.found():
        by_tag.setdefault(each.tag, []).append(each)
    for tag, found in sorted(by_tag.items()):
        for each in found:
            report(f"found {tag}: {each.kind} {each.name}")
    here = {deployment.tag for deployment in recorded()}
    for tag in sorted(by_tag):
        if not tags or tag in tags:
            yield _remove(provider, tag, may=tag in here or tag in tags)
    for tag in sorted(set(tags) - set(by_tag)):
        yield Removal(tag, "nothing has this tag")


def _remove(provider: Provider, tag: str, *, may: bool) -> Removal:
    deployment = Deployment(tag)
    if (user := deployment.used_by()) is not None:
        return Removal(tag, f"in use by {user}")
    if not may:
        return Removal(tag, f"made on another machine; add --tag {tag} if its run has ended")
    try:
        provider.down(tag)
    except TestbedError as error:
        return Removal(tag, str(error), failed=True)
    deployment.forget()
    return Removal(tag)
