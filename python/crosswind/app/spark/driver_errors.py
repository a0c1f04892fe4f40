"""Find the error of a driver among the messages that Spark logs. Pure: text in, a line out."""

import re

# The end of a Python traceback: the name of the exception and its message.
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception)(?:: .*)?")


def first_cause(stderr: str, workload: str) -> str | None:
    """Return the failure of the validation, or else the last exception; None if there is neither.

    An exception that Java raised has its message on the next line, after a colon.
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
