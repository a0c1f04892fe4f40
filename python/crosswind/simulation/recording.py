"""Read the header of a recording, and return the network that other conditions are resolved for."""

import json
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.spec import FabricSpec
from crosswind.spec.document import parse_document
from crosswind.spec.read_file import require_file
from crosswind.spec.setup import Setup, load_setup, setup_of
from crosswind.spec.topology.written_back import topology_of

_FIRST_WORD = b"crosswind-recording "


class NotARecording(CrosswindError):
    """A file cannot be read, or begins as a recording and has a damaged header."""


def is_recording(path: Path) -> bool:
    """Return whether a file begins as a recording of any version.

    Raises: NotARecording: the file cannot be read.
    """
    try:
        require_file(path)
        with path.open("rb") as file:
            return file.read(len(_FIRST_WORD)) == _FIRST_WORD
    except OSError as error:
        raise NotARecording(f"{path}: {(error.strerror or str(error)).lower()}; name a file") from None


def setup_of_recording(path: Path) -> Setup:
    """Return the network that another condition for this recording is resolved for.

    In a results folder it is the experiment's, with its conditions and its scale. Elsewhere it is the
    recorded network itself, unscaled.

    Raises: NotARecording: the header cannot be read.
    """
    experiment = path.resolve().parent.parent / "experiment.yaml"
    if path.resolve().parent.name == "recordings" and experiment.is_file():
        return load_setup(experiment)
    network = {"topology": topology_of(_fabric(path))}
    return setup_of(parse_document(json.dumps(network).encode(), str(path)))


def _fabric(path: Path) -> FabricSpec:
    try:
        with path.open("rb") as file:
            file.readline()
            length = int.from_bytes(file.read(4), "little")
            fabric = json.loads(file.read(length))["fabric"]
            # The recorded condition is in the engine's format, and another one will replace it.
            return FabricSpec.model_validate(fabric | {"condition": {"name": "recorded"}})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise NotARecording(f"{path}: its header cannot be read ({error}); record it again") from None
