"""What a run of the suite found, with its provenance: the certificate (JSON, schema 1)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crosswind.certify.claim import Claim, Decision
from crosswind.certify.quiet import Try
from crosswind.errors import Exit
from crosswind.results.durable import write_text
from crosswind.testbed.folders import cache_folder

SCHEMA = 1


@dataclass(frozen=True)
class Certificate:
    """The claims of one run of the suite on one machine.

    Attributes:
        provenance: of the machine before the first claim, as `crosswind.machine.provenance` tells it.
        took_s: how long the suite ran.
        wait_mode: how the live emulator waited; None where no live claim was made.
        tries: of live measurements, in order.
    """

    claims: Sequence[Claim]
    provenance: Mapping[str, Any]
    took_s: float
    wait_mode: str | None
    tries: Sequence[Try] = ()

    def count(self, decision: Decision) -> int:
        """Return how many claims ended so."""
        return Counter(claim.decision for claim in self.claims)[decision]

    @property
    def decision(self) -> Decision:
        """Failed if any claim failed, else undecided if any is, else held."""
        for decision in (Decision.FAILED, Decision.UNDECIDED):
            if self.count(decision):
                return decision
        return Decision.HELD

    @property
    def exit(self) -> Exit:
        """The status that `crosswind certify` ends with."""
        return {
            Decision.HELD: Exit.DONE,
            Decision.FAILED: Exit.TRIALS,
            Decision.UNDECIDED: Exit.UNDECIDED,
        }[self.decision]

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values (docs/reference/contracts.md, section 8)."""
        return {
            "schema": SCHEMA,
            "decision": self.decision.value,
            "held": self.count(Decision.HELD),
            "failed": self.count(Decision.FAILED),
            "undecided": self.count(Decision.UNDECIDED),
            "took_s": round(self.took_s, 1),
            "wait_mode": self.wait_mode,
            "tries": [asdict(one) for one in self.tries],
            "claims": [asdict(claim) for claim in self.claims],
            "provenance": dict(self.provenance),
        }


def store_certificate(certificate: Certificate, file: Path | None = None) -> Path:
    """Write a certificate to `file`, or in the place of the machine's last one; return where it is."""
    file = file or cache_folder() / "certificate.json"
    write_text(file, json.dumps(certificate.as_dict(), indent=2, ensure_ascii=False) + "\n")
    return file
