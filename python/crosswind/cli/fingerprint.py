"""Measure the network between two nodes: delay, bulk transfer, token bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from crosswind.fingerprint.fingerprint import Fingerprint

# Of what the network draws; two fingerprints should not differ without a reason.
SEED = 1


@click.command()
@click.argument("file")
@click.option(
    "--condition", help="A condition of FILE, of the catalogue, or in a file; FILE's first when absent."
)
@click.option("--between", metavar="FROM,TO", help="Two nodes; FILE's first two when absent.")
@click.option(
    "--full-speed", default="20s", show_default=True, help="How long a bucket has to be emptied in, twice."
)
@click.option("--rest", default="10s", show_default=True, help="Between the two.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("fingerprint.json"),
    show_default=True,
    help="Where the fingerprint goes.",
)
def command(
    file: str, condition: str | None, between: str | None, full_speed: str, rest: str, out: Path
) -> None:
    """Measure the network between two nodes: delay, bulk transfer, token bucket.

    FILE has a topology and may have a condition; an experiment, or the name of one of the catalogue, will do.
    It is brought up three times: for the one-way delay of small packets, for TCP over four connections, and
    for more packets than it takes, at full speed until a token bucket is empty, and again after a rest.
    `crosswind conditions from` makes a condition of the result.
    """
    from rich.console import Console

    from crosswind.cli._condition import carried_out
    from crosswind.fingerprint.fingerprint import measure
    from crosswind.spec import fabric_of, find_experiment, load_setup
    from crosswind.store.durable import write_text

    full_speed_s, rest_s = _seconds("--full-speed", full_speed), _seconds("--rest", rest)
    setup = load_setup(find_experiment(file))
    resolved = setup.resolved(SEED)
    resolved["conditions"] = [carried_out(setup.condition(condition or next(iter(setup.conditions))))]
    spec = fabric_of(resolved, resolved["conditions"][0]["name"])
    ends = _two(between, [node["name"] for node in spec["nodes"]])
    with Console(stderr=True).status("") as status:
        found = measure(spec, ends, full_speed_s, rest_s, status.update)
    write_text(out, _document(found))
    click.echo(_told(found))
    click.echo(f"fingerprint: {out}")


def _document(found: Fingerprint) -> str:
    """Return the document as it is kept, a sample of its trace a line."""
    import json

    document = found.as_dict()
    trace = ",\n    ".join(json.dumps(row) for row in document.pop("trace"))
    rest = json.dumps(document, indent=2, ensure_ascii=False)
    return f'{rest[:-2]},\n  "trace": [\n    {trace}\n  ]\n}}\n'


def _told(found: Fingerprint) -> str:
    """Return a fingerprint in a few lines."""
    from crosswind.doctor.quantities import rate_text, time_text

    bucket, bulk, delay = found.token_bucket, found.bulk, found.delay_quantiles_ns()
    lines = [
        f"{found.between[0]} to {found.between[1]}, condition {found.condition}",
        f"delay, one way: {time_text(delay['p50'])} at the median, {time_text(delay['p99'])} at p99; "
        f"{found.lost} packets lost",
        f"bulk transfer: {rate_text(bulk.goodput_bps)} of payload over {len(bulk.each_bps)} connections, "
        f"Jain's index {bulk.jain:.3f}, {bulk.retransmits} retransmissions",
    ]
    if bucket.low_bps is None or bucket.budget_bits is None or bucket.emptied_s is None:
        sent = float(next(found.trace.phases()).bits.sum())
        lines.append(
            f"token bucket: none was emptied at {rate_text(bucket.high_bps.value)}; if there is one, it held "
            f"at least {sent / 1e9:.4g} Gbit less what came back meanwhile"
        )
        return "\n".join(lines)
    refill = "not known" if bucket.refill_bps is None else rate_text(bucket.refill_bps.value)
    lines.append(
        f"token bucket ({bucket.kind}): {rate_text(bucket.high_bps.value)} for {bucket.emptied_s:.4g} s, "
        f"then {rate_text(bucket.low_bps.value)}; budget {bucket.budget_bits.value / 1e9:.4g} Gbit, "
        f"refill {refill}"
    )
    return "\n".join(lines)


def _seconds(option: str, text: str) -> float:
    from crosswind.spec.quantities import TIME, QuantityError

    try:
        return TIME.read_positive(text) / 1e9
    except QuantityError as error:
        raise CrosswindError(f"{option}: {error}") from None


def _two(between: str | None, nodes: list[str]) -> tuple[str, str]:
    """Return the two nodes that are meant."""
    named = nodes[:2] if between is None else between.split(",")
    if len(named) != 2 or named[0] == named[1] or not set(named) <= set(nodes):
        said = f"--between {between}" if between is not None else f"the topology has {len(nodes)} node"
        raise CrosswindError(f"{said}: two different nodes are needed; nodes are {', '.join(nodes)}")
    return named[0], named[1]
