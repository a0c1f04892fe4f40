"""The way back: what `crosswind conditions from` makes of a measurement, to be measured again."""

import tempfile
from pathlib import Path
from typing import Any

from crosswind.fingerprint.fit.fitted_condition import condition_from
from crosswind.spec.document import parse_document
from crosswind.spec.setup import setup_of

# It neither limits nor delays: the condition alone does.
_NETWORK = b"topology: {hosts: 2, uplink: {rate: unlimited, delay: 0us}, nodes: {n0: h0, n1: h1}}"


def fitted_places(content: bytes, **reading: Any) -> dict[str, Any]:
    """Return the elements, by place, of the condition that fits a file, read as any that a user writes.

    Args:
        content: of a fingerprint or a trace.
        reading: as `condition_from` takes it.
    Raises: NoFit: no model fits the measurement.
    """
    made = condition_from("measured", content, "measured", **reading)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "measured.yaml"
        file.write_text(made.text)
        condition = setup_of(parse_document(_NETWORK, "network.yaml")).condition(str(file))
    return dict(condition.places)
