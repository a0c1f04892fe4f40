"""What a driver says went wrong, found among what Spark logs around it. Pure: text in, a line out."""

import re

# The end of a Python traceback: the exception's name, and what it says.
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)(?:: .*)?")


def first_cause(stderr: str, workload: str) -> str | None:
    """Return the verdict of the validation, or else the last exception; None where there is neither.

    An exception that Java raised has its own words on the line behind it, after a colon.
    """
    lines = stderr.splitlines()
    for line in lines:
        if line.startswith(f"{workload}: not valid: "):
            return line
    raised = [number for number, line in enumerate(lines) if _RAISED.fullmatch(line)]
    if not raised:
        return None
    said, *behind = lines[raised[-1] :]
    return said + (behind[0][1:] if behind and behind[0].startswith(": ") else "")
