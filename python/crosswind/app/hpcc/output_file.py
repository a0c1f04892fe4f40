"""Read `hpccoutf.txt`: the results of HPCC, or the reason to reject them.

The file has a section for each test, and a summary of `key=value` at its end. HPCC exits with 0 even if tests
failed. If it cannot run what its input file requests, such as a grid with more ranks than there are, it takes
another size and grid and reports success.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crosswind.app.hpcc.parameters import Grid
from crosswind.testbed.errors import TestbedError

_SECTION = re.compile(r"Begin of (?P<name>\w+) section\.")
_CLOCK = re.compile(r"Current time \((?P<epoch>\d+)\) is ")
# Messages of failed tests; only numbers other than 0 count.
_WRONG = (
    re.compile(r"Node\(s\) with error [1-9]\d*"),
    re.compile(r"Found [1-9]\d* errors in \d+ locations \(failed\)"),
    re.compile(r"[1-9]\d* tests completed and failed residual checks"),
    re.compile(r"[1-9]\d* tests skipped because of illegal input values"),
    re.compile(r"Failed Validation on array .*"),
    re.compile(r"(Failed to allocate|Memory allocation failed).*"),
)
# HPL divides (2/3) N^3 + (3/2) N^2 operations by its time; rate and time are printed with six digits.
_OPERATIONS_TOLERANCE = 1e-4


@dataclass(frozen=True)
class HpccOutput:
    """The output of a run of HPCC in which all tests passed.

    Attributes:
        summary: every key of the summary, with its value as text.
        sections_s: how long each test took, by the clock of the first rank, in whole s.
    """

    summary: dict[str, str]
    sections_s: dict[str, int]


def read_report(text: str) -> HpccOutput:
    """Return the content of the output file of a run.

    Raises: TestbedError: the file ends early, or a test failed; the message names it.
    """
    wrong, sections_s, section = [], {}, "Setup"
    began_s: int | None = None
    for line in text.splitlines():
        if found := _SECTION.fullmatch(line.strip()):
            section = found["name"]
        elif found := _CLOCK.match(line):
            now_s = int(found["epoch"])
            if began_s is not None and section != "Summary":
                sections_s[section] = now_s - began_s
            began_s = now_s
        else:
            wrong += [f"{section}: {found[0]}" for pattern in _WRONG if (found := pattern.search(line))]
    if "End of Summary section." not in text:
        said = f"; {'; '.join(wrong)}" if wrong else ""
        raise TestbedError(f"hpcc: its output ends in the section {section}, without a summary{said}")
    summary = _pairs(text.partition("Begin of Summary section.")[2])
    if wrong or summary.get("Success") != "1":
        raise TestbedError(
            f"hpcc: failed tests: {len(wrong)} (Success={summary.get('Success')}); {'; '.join(wrong)}"
        )
    return HpccOutput(summary, sections_s)


def check_asked(summary: Mapping[str, str], *, n: int, nb: int, grid: Grid, ranks: int) -> None:
    """Check that a run solved the requested problem, and that HPL's rate and time fit to it.

    Raises: TestbedError: the problem or the ranks differ, or rate times time is not the number of operations
        for a matrix of this order; the message says which.
    """
    asked = {"HPL_N": n, "HPL_NB": nb, "HPL_nprow": grid.p, "HPL_npcol": grid.q, "CommWorldProcs": ranks}
    other = [
        f"{key}={summary.get(key)} instead of {value}"
        for key, value in asked.items()
        if summary.get(key) != str(value)
    ]
    if other:
        raise TestbedError(f"hpcc: did not run the requested problem: {', '.join(other)}")
    expected = 2 / 3 * n**3 + 3 / 2 * n**2
    done = float(summary.get("HPL_Tflops", "nan")) * 1e12 * float(summary.get("HPL_time", "nan"))
    if not abs(done / expected - 1) <= _OPERATIONS_TOLERANCE:
        raise TestbedError(
            f"hpcc: HPL's rate times its time is {done:.6g} operations, but N={n} takes {expected:.6g}; "
            "its summary is wrong"
        )


def _pairs(summary: str) -> dict[str, str]:
    lines = summary.partition("End of Summary section.")[0].splitlines()
    return {key: value for key, equals, value in (line.partition("=") for line in lines) if equals}
