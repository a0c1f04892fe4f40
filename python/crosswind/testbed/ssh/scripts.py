"""What the other machine's shell runs: start the agent where it has been copied to, or take a copy.

Each is one line without single quotes, which every login shell hands on to `sh` unchanged. A login shell may
print before it does so; the lines that count begin with `crosswind-agent`.
"""

from collections.abc import Mapping, Sequence

from crosswind.testbed.ssh.programs import AgentProgram

# One file for each checksum, so that different versions of crosswind can use a machine at the same time.
_FOLDER = "$HOME/.cache/crosswind/agents"
STARTS = b"crosswind-agent starts"
ABSENT = b"crosswind-agent is absent on "
COPIED = b"crosswind-agent is copied"


def start_script(programs: Mapping[str, AgentProgram], arguments: Sequence[str] = ()) -> str:
    """Return a command that runs the agent for its machine's CPU, after a line that says so.

    Where there is none, it prints ABSENT with `uname -s` and `uname -m`, and ends.

    Args:
        arguments: of the agent: plain words.
    """
    words = " ".join(['"$p"', *arguments])
    cases = " ".join(f"{processor}) s={program.sha256};;" for processor, program in programs.items())
    return _in_sh(
        f's=none; case "$(uname -m)" in {cases} esac; p="{_FOLDER}/$s/crosswind-agent"; '
        f'if [ -x "$p" ]; then echo "{STARTS.decode()}"; exec {words}; fi; '
        f'echo "{ABSENT.decode()}$(uname -s) $(uname -m)"'
    )


def copy_script(program: AgentProgram) -> str:
    """Return a command that stores its standard input as the agent, and prints COPIED.

    The file gets its name when it is complete. Several may copy at once, also onto a home folder that
    machines share: each writes a file of its own.
    """
    folder = f"{_FOLDER}/{program.sha256}"
    # A machine without sha256sum has only the size to check, which finds a connection that was cut.
    steps = (
        'mkdir -p "$d"',
        'cat > "$t"',
        f'[ "$(wc -c < "$t")" -eq {program.size_bytes} ]',
        f'if command -v sha256sum > /dev/null; then sha256sum < "$t" | grep -q ^{program.sha256}; fi',
        'chmod 755 "$t"',
        'mv "$t" "$d/crosswind-agent"',
        f'echo "{COPIED.decode()}"',
    )
    return _in_sh(
        f'd="{folder}"; t="$d/part-$(uname -n)-$$"; {" && ".join(steps)} || {{ rm -f "$t"; exit 1; }}'
    )


def _in_sh(script: str) -> str:
    return f"exec sh -c '{script}'"
