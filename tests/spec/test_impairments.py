"""Loss and what else happens to single packets, from a file's words to what the agent reads."""

from collections.abc import Callable
from typing import Any

import pytest

Reads = Callable[..., Any]
Refusal = Callable[[str], str]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("lose: {bernoulli: 1%}", {"lose": {"law": {"bernoulli": {"share_ppb": 10_000_000}}}}),
        (
            "lose: {gilbert_elliott: {p: 0.1%, r: 25%}, on: [h0]}",
            {
                "lose": {
                    "law": {
                        "gilbert_elliott": {
                            "p_ppb": 10**6,
                            "r_ppb": 25 * 10**7,
                            "h_ppb": 0,
                            "k_ppb": 10**9,
                        }
                    },
                    "on": ["h0"],
                }
            },
        ),
        (
            "lose: {four_state: {p13: 1%, p31: 30%}}",
            {
                "lose": {
                    "law": {
                        "four_state": {
                            "p13_ppb": 10**7,
                            "p31_ppb": 30 * 10**7,
                            "p32_ppb": 0,
                            "p23_ppb": 10**9,
                            "p14_ppb": 0,
                        }
                    }
                }
            },
        ),
        ('lose: {trace: {pattern: "0010"}}', {"lose": {"law": {"trace": {"pattern": "0010"}}}}),
        ("duplicate: {share: 0.0000001%}", {"duplicate": {"share_ppb": 1}}),
        ("corrupt: {share: 100%}", {"corrupt": {"share_ppb": 10**9}}),
        ("reorder: {share: 2%, time: 5ms}", {"reorder": {"share_ppb": 2 * 10**7, "time_ns": 5 * 10**6}}),
    ],
)
def test_probabilities_are_parts_per_billion_and_scale_leaves_them_alone(
    written: str, read: Any, agent_reads: Reads
) -> None:
    assert agent_reads(written) == read
    assert agent_reads(written, scale=0.1) == read


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("lose: {}", "must have one law: bernoulli, gilbert_elliott, four_state or trace"),
        ("lose: {bernoulli: 1%, trace: {pattern: '0'}}", "must have one law"),
        ("lose: {bernoulli: 0.01}", '"0.01" has no unit; write 1% or 0.01% (units: %)'),
        ("lose: {bernoulli: 0%}", "is zero and has no effect"),
        ("lose: {bernoulli: 0.00000001%}", "is finer than a part per billion; round it to seven decimals"),
        ("lose: {four_state: {p13: 60%, p31: 1%, p14: 41%}}", "leaves state 1 with 101% together"),
        ("lose: {trace: {pattern: '11'}}", "loses every packet; write at least one 0"),
        ("lose: {trace: {pattern: 0010}}", "is not a pattern; write 0 (received) and 1 (lost)"),
        ("lose: {gilbert_elliot: {p: 1%, r: 1%}}", "did you mean"),
        ("reorder: {share: 2%, time: 0ms}", "is zero"),
        ("duplicate: {share: 101%}", "is outside 0% to 100%"),
    ],
)
def test_what_means_nothing_is_refused_with_a_remedy(written: str, message: str, refusal: Refusal) -> None:
    assert message in refusal(written)
