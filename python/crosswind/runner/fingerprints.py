"""Take the short fingerprints of a run, and store them with its results."""

from __future__ import annotations

from crosswind.doctor import auto_domains_here
from crosswind.results import ResultsFolder
from crosswind.results.documents import WITHOUT_IT, blaming
from crosswind.results.durable import write_text
from crosswind.results.folder import Side, fingerprint_file
from crosswind.spec import Resolved, fabric_of
from crosswind.stream import Event, Note, Stream
from crosswind.testbed import TestbedError


def attach_fingerprint(resolved: Resolved, folder: ResultsFolder, side: Side, stream: Stream[Event]) -> None:
    """Measure the network as planned when the run began, and store the document.

    Where it cannot be measured, the reason is shown and stored, and the run goes on.
    """
    before = folder.provenance().before
    planned = None if before is None else before.fingerprint
    if before is None or planned is None or planned.left_out:
        return
    condition, between, length_s = planned.condition, planned.between, planned.length_s
    with blaming(folder.path / "provenance.json", WITHOUT_IT):
        if condition is None or between is None or length_s is None:
            raise ValueError("the planned fingerprint is incomplete")
        spec = fabric_of(resolved, condition, auto_domains=auto_domains_here(resolved))
    # Imported here: it takes a while, and most runs are too short for a fingerprint.
    from crosswind.analysis.network.document import text_of
    from crosswind.fingerprint.short import short_fingerprint

    stream.publish(Note(text=f"fingerprint of the network under {condition}, about {length_s:g} s"))
    try:
        document = short_fingerprint(spec, between, length_s)
    except (TestbedError, ValueError, LookupError, RecursionError) as error:
        why = f"{side} the trials: {error}"
        stream.publish(Note(text=f"no fingerprint {why}"))
        planned = planned.model_copy(update={"left_out": why})
        folder.write_provenance(before=before.with_changes(fingerprint=planned))
        return
    write_text(fingerprint_file(folder.path, side), text_of(document))
