"""Why `ssh` failed, from what it printed: thing, value, rule, remedy in one line."""

import re
from collections.abc import Sequence

from crosswind.testbed.bounded import plain

# What OpenSSH prints, and what it means. The first that matches counts: a changed key is also a failed
# verification.
_MEANINGS = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one in your known_hosts file, so it may be another machine; if it was "
        "installed again, remove the old key with `ssh-keygen -R {name}` and connect once with `ssh {name}`",
    ),
    (
        r"Host key verification failed|host key is known for",
        "its host key is not in your known_hosts file, and nobody is there to confirm it; connect once with "
        "`ssh {name}`",
    ),
    (
        r"Permission denied \(|Too many authentication failures|no mutual signature|No supported auth",
        "it accepts none of your keys, and no password can be typed here; add a key with "
        "`ssh-copy-id {name}`, or load it with `ssh-add`, until `ssh -o BatchMode=yes {name} true` works",
    ),
    (
        r"Could not resolve hostname",
        "no such host name; correct it, or give it a HostName in ~/.ssh/config",
    ),
    (
        r"Connection refused",
        "nothing listens on its ssh port; start sshd there, or correct HostName and Port in ~/.ssh/config",
    ),
    (
        r"No route to host|Network is unreachable",
        "no route leads there; check that it runs, and HostName and ProxyJump in ~/.ssh/config",
    ),
    (
        r"Connection timed out|Operation timed out|Connection to .* timed out|during banner exchange",
        "it does not answer; check that it runs, that no firewall drops its ssh port, and HostName and "
        "ProxyJump in ~/.ssh/config",
    ),
    (
        r"Timeout, server .* not responding|Broken pipe|Connection reset by|closed by remote host",
        "the connection was lost; the agent there undoes everything when its lease ends; check the network "
        "between here and there",
    ),
    (
        r"Bad configuration option|terminating, \d+ bad configuration|Bad owner or permissions",
        "ssh refuses your configuration ({line}); correct ~/.ssh/config",
    ),
)
_SSH_FAILED = 255
_NOT_EXECUTABLE = 126
_NOT_FOUND = 127


def explain(name: str, status: int | None, printed: Sequence[str]) -> str | None:
    """Return why a connection failed, or None where ssh is not the reason.

    Args:
        name: of the host, as given to ssh.
        status: of ssh; None while it runs.
        printed: the lines of its standard error, of which the other machine may have written some.
    """
    printed = [plain(line) for line in printed]
    if status == _SSH_FAILED:
        for pattern, meaning in _MEANINGS:
            for line in printed:
                if re.search(pattern, line):
                    return meaning.format(name=name, line=line.strip())
        return f"ssh failed ({_last(printed)}); try `ssh -v {name}`"
    if status == _NOT_EXECUTABLE:
        return (
            f"it does not run programs from ~/.cache/crosswind ({_last(printed)}); mount its home folder "
            "without noexec"
        )
    if status == _NOT_FOUND:
        return (
            f"its login shell finds no sh, or the agent no C library ({_last(printed)}); run `ssh {name} sh`"
        )
    for line in printed:
        if "GLIBC_" in line or "GLIBC " in line:
            return (
                f"its C library is older than this machine's ({line.strip()}); build static agents with "
                "`make agents`"
            )
    return None


def _last(printed: Sequence[str]) -> str:
    lines = [line.strip() for line in printed if line.strip()]
    return lines[-1] if lines else "it printed nothing"
