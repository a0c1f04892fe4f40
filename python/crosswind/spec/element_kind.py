"""The kinds of element there are, each made from its description in elements.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from crosswind.spec.base import On, SpecModel
from crosswind.spec.description import Description, descriptions
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.parameters.readers import keys_of_group
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding, Setting

# In front of a link; these replace its FIFO.
PORTS = ("host.egress", "switch.egress")


class ElementKind:
    """Reads, checks and sends the elements of one kind.

    Attributes:
        model: reads their parameters.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.keys = keys_of_group(description.group, {"on": (On, None)})
        self.model = self.keys.model

    def sent(self, given: SpecModel, uplink_bps: int | None, scale: float) -> Parameters | None:
        """Return the parameters but `on` as the agent takes them, scaled; None where it has no effect."""
        sent = self.keys.sent_inside(given, Sending(scale, uplink_bps, given))
        idle = self.description.idle
        if idle is not None and sent == {self.description.sent_name(idle): 0}:
            return None
        return sent

    def findings(self, raw: JsonValue, place: str, setting: Setting) -> Iterator[Finding]:
        """Yield what is wrong with the parameters of one element, as they are written, at a place."""
        yield from self._place_findings(place)
        yield from self.keys.findings(raw, Around(setting, place, self.model, raw))

    def _place_findings(self, place: str) -> Iterator[Finding]:
        where = self.description.where
        if where == "port" and place not in PORTS:
            yield (), f"cannot be at {place}: it needs a link behind it; move it to {' or '.join(PORTS)}"
        if where == "link" and place not in ("link", "wan"):
            yield (), f"cannot be at {place}: only a link has a {self.description.kind}; move it to link"


KINDS: Mapping[str, ElementKind] = {
    kind: ElementKind(description) for kind, description in descriptions().items()
}
