"""The condition that `crosswind conditions from` makes of a measurement, for a second measurement."""

import tempfile
from pathlib import Path

from crosswind.fingerprint.fit.fitted_condition import condition_from
from crosswind.fingerprint.fit.floor import Floor
from crosswind.spec.document import parse_document
from crosswind.spec.resolved import Places
from crosswind.spec.setup import setup_of

# The network itself neither limits nor delays; only the condition does.
_NETWORK = b"topology: {hosts: 2, uplink: {rate: unlimited, delay: 0us}, nodes: {n0: h0, n1: h1}}"


def fitted_places(content: bytes, floor: Floor | None = None) -> Places:
    """Return the elements, by place, of the condition that fits a file.

    Args:
        content: of a fingerprint or a trace.
        floor: of delays, as `condition_from` takes it.
    Raises: NoFit: no condition fits the measurement.
    """
    made = condition_from("measured", content, "measured", floor=floor)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "measured.yaml"
        file.write_text(made.text)
        condition = setup_of(parse_document(_NETWORK, "network.yaml")).condition(str(file))
    return dict(condition.places)
