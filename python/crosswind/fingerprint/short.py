"""A fingerprint of a given length, short enough to be taken before and after an experiment.

It has one-way delay, bulk transfer and token bucket. Most of the time is one burst at full speed, since only
an empty bucket shows its size. There is no rest, so a refill that differs from the low rate stays unknown.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from crosswind.analysis.network.document import SCHEMA, FingerprintDocument
from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.fingerprint import OVERLOAD, SAMPLES, bucket_part, delay_part, samples_of
from crosswind.fingerprint.measure.bulk import bulk
from crosswind.fingerprint.measure.duty_cycle import duty_cycle
from crosswind.fingerprint.measure.one_way import PACKETS, PACKETS_PER_S, one_way
from crosswind.fingerprint.measure.own_ends import own_fabric, with_nodes
from crosswind.fingerprint.measure.round_trips import CONNECTIONS
from crosswind.machine.provenance import provenance
from crosswind.spec import FabricSpec

# Three fabrics are brought up, and connections are made and warmed up.
_AROUND_S = 1.0
_SHARE = 0.25
_LONGEST_BULK_S = 2.0


def short_fingerprint(
    spec: FabricSpec,
    between: tuple[str, str],
    length_s: float,
) -> FingerprintDocument:
    """Measure a network for about `length_s`, two seconds or more, and return the document.

    Args:
        spec: the fabric (docs/reference/contracts.md, section 1).
        between: the sending node and the receiving one.
    Raises: TestbedError: nothing arrived, or a connection was lost.
    """
    before = provenance(Path.cwd(), spec.seed, {}).as_json()
    network = partial(own_fabric, with_nodes(spec, between))
    left_s = length_s - _AROUND_S
    packets = min(PACKETS, round(_SHARE * left_s * PACKETS_PER_S))
    bulk_s = min(_LONGEST_BULK_S, _SHARE * left_s)
    full_speed_s = left_s - packets / PACKETS_PER_S - bulk_s
    probes = one_way(network, packets)
    assert probes is not None, "both nodes of a fabric are on this machine, and have its clock"
    with network() as ends:
        transfer = bulk(ends, CONNECTIONS, bulk_s)
    offered_bps = OVERLOAD * transfer.fastest_bps
    trace = duty_cycle(network, offered_bps, [full_speed_s], 0.0, full_speed_s / SAMPLES)
    return FingerprintDocument(
        schema_version=SCHEMA,
        between=between,
        condition=spec.condition.name,
        delay=delay_part(probes.delay_ns, probes.lost),
        bulk=transfer.part(),
        token_bucket=bucket_part(offered_bps, identify(trace)),
        trace=samples_of(trace),
        provenance=before,
    )
