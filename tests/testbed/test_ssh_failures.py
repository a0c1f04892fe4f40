"""What ssh prints becomes one line: what is wrong with which host, and what to do."""

from __future__ import annotations

import pytest

from crosswind.testbed.ssh.failure import explain


@pytest.mark.parametrize(
    ("status", "printed", "expected"),
    [
        (
            255,
            [
                "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@",
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
                "Host key verification failed.",
            ],
            "its host key is not the one in your known_hosts file, so it may be another machine",
        ),
        (
            255,
            ["No ED25519 host key is known for m0 and you have requested strict checking."],
            "its host key is not in your known_hosts file",
        ),
        (255, ["root@m0: Permission denied (publickey)."], "it accepts none of your keys"),
        (
            255,
            ["ssh: Could not resolve hostname m0: Temporary failure in name resolution"],
            "no such host name",
        ),
        (255, ["ssh: connect to host m0 port 22: Connection refused"], "nothing listens on its ssh port"),
        (255, ["ssh: connect to host m0 port 22: No route to host"], "no route leads there"),
        (255, ["ssh: connect to host m0 port 22: Connection timed out"], "it does not answer"),
        (255, ["Connection timed out during banner exchange"], "it does not answer"),
        (255, ["Timeout, server m0 not responding."], "the connection was lost"),
        (255, ["client_loop: send disconnect: Broken pipe"], "the connection was lost"),
        (
            255,
            ["/root/.ssh/config: line 3: Bad configuration option: hostnam", "terminating, 1 bad option"],
            "ssh refuses your configuration (/root/.ssh/config: line 3: Bad configuration option: hostnam)",
        ),
        (255, ["Cannot execute command-line and remote command."], "ssh failed (Cannot execute"),
        (255, [], "ssh failed (it printed nothing); try `ssh -v m0`"),
        (
            126,
            ["sh: 1: exec: /root/x: Permission denied"],
            "it does not run programs from ~/.cache/crosswind",
        ),
        (127, ["sh: not found"], "its login shell finds no sh"),
        (
            1,
            ["x: /lib/libc.so.6: version `GLIBC_2.34' not found (required by x)"],
            "its C library is older than this machine's",
        ),
    ],
)
def test_what_ssh_prints_has_a_meaning_and_a_remedy(status: int, printed: list[str], expected: str) -> None:
    why = explain("m0", status, printed)
    assert why is not None
    assert why.startswith(expected)
    assert ";" in why
    assert "\n" not in why


@pytest.mark.parametrize("status", [None, 0, 1, -9])
def test_the_end_of_an_agent_is_not_blamed_on_ssh(status: int | None) -> None:
    assert explain("m0", status, ["crosswind-agent: no request for the length of the lease"]) is None
