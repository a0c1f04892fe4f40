"""The certificate: the claims of one run of a suite on one machine (JSON, contracts.md, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from crosswind.certify.claim import Claim, Decision
from crosswind.certify.quiet import Try
from crosswind.errors import Exit
from crosswind.results.durable import write_text
from crosswind.testbed.folders import cache_folder

SuiteName = Literal["emulation", "conformance", "dilation"]
# Each suite has a file of its own, so that one does not replace the other's certificate.
_FILES: dict[SuiteName, str] = {
    "emulation": "certificate.json",
    "conformance": "conformance.json",
    "dilation": "dilation.json",
}


class Invariance(BaseModel):
    """What `crosswind certify --dilation` ran.

    Attributes:
        dilations: under which every condition ran; None: real time.
        results: the folder of the run.
        left_out: why there was no null run; empty where there was one.
    """

    model_config = ConfigDict(frozen=True)

    dilations: tuple[int | None, ...]
    results: str
    left_out: str


class Certificate(BaseModel):
    """The claims of one run of a suite on one machine.

    Attributes:
        suite: `emulation`, known answers; or `conformance`, criteria that others wrote; or `dilation`, an
            experiment at several dilations.
        decision: failed if any claim failed, else undecided if any is, else held.
        held, failed, undecided: numbers of claims.
        took_s: how long the suite ran.
        wait_mode: how the live emulator waited; None where no live claim was made.
        tries: of live measurements, in order.
        provenance: facts of the machine before the first claim.
        invariance: None in the other suites.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True)

    schema_version: Literal[1] = Field(1, alias="schema")
    suite: SuiteName = "emulation"
    decision: Decision
    held: int
    failed: int
    undecided: int
    took_s: float
    wait_mode: str | None
    tries: tuple[Try, ...]
    claims: tuple[Claim, ...]
    provenance: dict[str, JsonValue]
    invariance: Invariance | None = None

    @classmethod
    def of(
        cls,
        claims: Sequence[Claim],
        provenance: dict[str, JsonValue],
        took_s: float,
        wait_mode: str | None,
        tries: Sequence[Try] = (),
        suite: SuiteName = "emulation",
        invariance: Invariance | None = None,
    ) -> Self:
        """Return the certificate that follows from these claims."""
        counts = Counter(claim.decision for claim in claims)
        worst = next((each for each in (Decision.FAILED, Decision.UNDECIDED) if counts[each]), Decision.HELD)
        return cls(
            suite=suite,
            decision=worst,
            held=counts[Decision.HELD],
            failed=counts[Decision.FAILED],
            undecided=counts[Decision.UNDECIDED],
            took_s=round(took_s, 1),
            wait_mode=wait_mode,
            tries=tuple(tries),
            claims=tuple(claims),
            provenance=provenance,
            invariance=invariance,
        )

    @property
    def exit(self) -> Exit:
        """The exit status of `crosswind certify`."""
        return {
            Decision.HELD: Exit.DONE,
            Decision.FAILED: Exit.TRIALS,
            Decision.UNDECIDED: Exit.UNDECIDED,
        }[self.decision]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the certificate as plain values, as the file has them."""
        return self.model_dump(mode="json", by_alias=True)


def store_certificate(certificate: Certificate, file: Path | None = None) -> Path:
    """Write a certificate to `file`, or in the place of the last one of its suite; return the path."""
    file = file or cache_folder() / _FILES[certificate.suite]
    write_text(file, certificate.model_dump_json(by_alias=True, indent=2) + "\n")
    return file
