"""Take the short fingerprints of a run, and keep them with its results."""

from __future__ import annotations

from collections.abc import Callable

from crosswind.doctor import auto_domains_here
from crosswind.results import ResultsFolder
from crosswind.results.documents import WITHOUT_IT, blaming
from crosswind.results.durable import write_text
from crosswind.results.folder import Side, fingerprint_file
from crosswind.spec import Resolved, fabric_of
from crosswind.testbed import TestbedError


def attach_fingerprint(
    resolved: Resolved, folder: ResultsFolder, side: Side, say: Callable[[str], None]
) -> None:
    """Measure the network as was planned when the run began, and keep the document.

    Where it cannot be measured, the reason is said and kept, and the run goes on.
    """
    before = folder.provenance()["before"] or {}
    planned = before.get("fingerprint")
    with blaming(folder.path / "provenance.json", WITHOUT_IT):
        if not planned or planned["left_out"]:
            return
        first, second = planned["between"]
        spec = fabric_of(resolved, planned["condition"], auto_domains=auto_domains_here(resolved))
        length_s = float(planned["length_s"])
    # Here, since it takes a while to import and most runs are too short for one.
    from crosswind.analysis.network.document import text_of
    from crosswind.fingerprint.short import short_fingerprint

    say(f"fingerprint of the network under {planned['condition']}, about {length_s:g} s")
    try:
        document = short_fingerprint(spec, (first, second), length_s)
    except (TestbedError, ValueError, LookupError, RecursionError) as error:
        why = f"{side} the trials: {error}"
        say(f"no fingerprint {why}")
        folder.write_provenance(before=before | {"fingerprint": planned | {"left_out": why}})
        return
    write_text(fingerprint_file(folder.path, side), text_of(document))
