"""An agent on another machine, started by `ssh` and copied there when it is absent."""

import socket
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from crosswind.errors import CrosswindError
from crosswind.spec.resolved import ResolvedMachine
from crosswind.testbed.agent import Agent
from crosswind.testbed.bounded import TooLong, communicate, plain
from crosswind.testbed.errors import NotHere
from crosswind.testbed.ssh import scripts
from crosswind.testbed.ssh.failure import explain
from crosswind.testbed.ssh.programs import AgentProgram, agent_programs

# A cut link delivers no end of input. ssh gives up after 3 x 5 s without an answer; the agent undoes
# everything 30 s after the last request that reached it.
LEASE_S = 30
_OPTIONS = {
    # No question can be answered here.
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    # The other machine gets nothing of this one's: no keys by its agent, no display, no ports.
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "ClearAllForwardings": "yes",
}
# Connecting through jump hosts takes seconds, and a slow login shell more.
_START_S = 60.0
# 4 MB at 1 Mbit/s.
_COPY_S = 120.0
# For what it has already printed, after its output has ended.
_END_S = 10.0
# Of a line that a login shell prints before the script runs.
_CHATTER_BYTES = 1 << 16


@dataclass(frozen=True)
class SshTransport:
    """The way to a machine that ssh reaches.

    Attributes:
        host: as ssh knows it: a name in `~/.ssh/config`, or in the name service.
        options: words for ssh in front of it, where an inventory has other ones than `~/.ssh/config`.
        arguments: of the agent.
    """

    host: str
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    lease_s: int = LEASE_S
    is_here: bool = False

    @property
    def title(self) -> str:
        return f"agent on {self.host}"

    @classmethod
    def of(cls, machine: ResolvedMachine, arguments: tuple[str, ...] = ()) -> Self:
        """Return the way to a machine of an experiment."""
        return cls(machine.name, machine.ssh_options, arguments)

    def start(self) -> subprocess.Popen[bytes]:
        programs = agent_programs()
        child, answer = self._try_to_start(programs)
        if answer == scripts.STARTS:
            return child
        _end(child)
        words = plain(answer.removeprefix(scripts.ABSENT).decode(errors="replace"))
        system, _, processor = words.partition(" ")
        if system != "Linux" or processor not in programs:
            raise NotHere(
                f"host {self.host}: it is {system} on {processor}, there are agents for Linux on "
                f"{', '.join(programs)} here; build the missing one with `make agents`, or leave the host out"
            )
        self._copy(programs[processor])
        child, answer = self._try_to_start(programs)
        if answer != scripts.STARTS:
            _end(child)
            raise NotHere(
                f"host {self.host}: the agent was copied to ~/.cache/crosswind and is not there now; "
                "something removes it"
            )
        return child

    def explained(self, status: int | None, printed: Sequence[str]) -> str | None:
        return explain(self.host, status, printed)

    def run(self, script: str, timeout_s: float) -> str:
        """Run a script with the machine's `sh`, and return what it and the login shell printed.

        Raises: NotHere: ssh does not reach the machine, or the script does not end within `timeout_s`.
        """
        child = self._open("exec sh -s")
        try:
            printed, complaints = communicate(child, script.encode(), timeout_s)
        except TooLong as error:
            raise NotHere(f"host {self.host}: {error}; its login shell must print next to nothing") from None
        except subprocess.TimeoutExpired:
            _end(child)
            raise NotHere(
                f"host {self.host}: no answer within {timeout_s:g} s; check the network between here and "
                "there"
            ) from None
        why = explain(self.host, child.returncode, complaints.decode(errors="replace").splitlines())
        if why is not None:
            raise NotHere(f"host {self.host}: {why}")
        return printed.decode(errors="replace")

    def address(self) -> str:
        """Return the IP address that ssh connects to.

        Raises: NotHere: ssh refuses its configuration, or the name has no address here.
        """
        child = self._open(options=("-G",))
        printed, complaints = child.communicate()
        names = [
            line.removeprefix("hostname ")
            for line in printed.decode(errors="replace").splitlines()
            if line.startswith("hostname ")
        ]
        if not names:
            why = explain(self.host, child.returncode, complaints.decode(errors="replace").splitlines())
            raise NotHere(f"host {self.host}: {why or 'ssh -G prints no host name; update OpenSSH'}")
        try:
            return str(socket.getaddrinfo(names[0], None, type=socket.SOCK_DGRAM)[0][4][0])
        except OSError:
            raise NotHere(
                f"host {self.host}: the name {names[0]} has no address here; write the one at which the "
                f"other machines reach it: {{name: {self.host}, address: 10.0.0.7}}"
            ) from None

    def _open(self, *script: str, options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        own = [word for name, value in _OPTIONS.items() for word in ("-o", f"{name}={value}")]
        try:
            # In a separate session, Ctrl-C in the terminal does not reach ssh before it reaches this process.
            return subprocess.Popen(
                ["ssh", "-T", *options, *own, *self.options, "--", self.host, *script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise NotHere("ssh: not found on PATH; install OpenSSH's client (openssh-client)") from None

    def _try_to_start(self, programs: dict[str, AgentProgram]) -> tuple[subprocess.Popen[bytes], bytes]:
        """Return ssh, and the line with which the other machine's script says what it does."""
        child = self._open(scripts.start_script(programs, self.arguments))
        timer = threading.Timer(_START_S, child.kill)
        timer.start()
        try:
            assert child.stdout is not None
            chatter = b""
            while line := child.stdout.readline(_CHATTER_BYTES):
                answer = line.strip()
                if answer == scripts.STARTS or answer.startswith(scripts.ABSENT):
                    return child, answer
                chatter = answer
        finally:
            timer.cancel()
        raise self._failure(child, chatter.decode(errors="replace"))

    def _copy(self, program: AgentProgram) -> None:
        child = self._open(scripts.copy_script(program))
        try:
            printed, complaints = communicate(child, program.path.read_bytes(), _COPY_S)
        except TooLong as error:
            raise NotHere(f"host {self.host}: {error}; its login shell must print next to nothing") from None
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            raise NotHere(
                f"host {self.host}: the agent ({program.size_bytes} bytes) was not copied within "
                f"{_COPY_S:g} s; check the network between here and there"
            ) from None
        if scripts.COPIED not in printed.splitlines():
            lines = complaints.decode(errors="replace").splitlines()
            why = explain(self.host, child.returncode, lines) or (
                "the agent cannot be stored in ~/.cache/crosswind "
                f"({lines[-1] if lines else 'no reason given'}); make room there, or let its account write"
            )
            raise NotHere(f"host {self.host}: {why}")

    def _failure(self, child: subprocess.Popen[bytes], chatter: str) -> NotHere:
        """Return the error for an ssh that ended before the other machine's script answered.

        Args:
            chatter: the last line that the login shell printed.
        """
        try:
            _, complaints = communicate(child, b"", _END_S)
        except (TooLong, subprocess.TimeoutExpired):
            _end(child)
            complaints = b""
        lines = [plain(line) for line in (*complaints.decode(errors="replace").splitlines(), chatter)]
        why = explain(self.host, child.returncode, lines)
        if why is None:
            printed = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
            what = (
                f"no answer within {_START_S:g} s"
                if child.returncode < 0
                else f"its login shell ended with {child.returncode}"
            )
            why = f"{what} ({printed}); `ssh {self.host} true` must end by itself and without a question"
        return NotHere(f"host {self.host}: {why}")


def start_agents(transports: Sequence[SshTransport]) -> list[Agent]:
    """Start an agent on each machine, all at once, and return them in order.

    Raises: NotHere: at least one cannot be started; the message has a line for each of them, and the others
        are closed again.
    """
    with ThreadPoolExecutor(max(1, len(transports))) as pool:
        attempts = [pool.submit(Agent, transport) for transport in transports]
        failures = [error for attempt in attempts if (error := attempt.exception()) is not None]
        agents = [attempt.result() for attempt in attempts if attempt.exception() is None]
        if failures:
            list(pool.map(Agent.close, agents))
    for failure in failures:
        if not isinstance(failure, CrosswindError):
            raise failure
    if failures:
        raise NotHere("\n".join(str(failure) for failure in failures)) from failures[0]
    return agents


def _end(child: subprocess.Popen[bytes]) -> None:
    """End an ssh whose script has ended, or is of no use."""
    child.kill()
    child.communicate()
