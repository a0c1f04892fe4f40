"""Agents on other machines, over OpenSSH and nothing else.

Users, ports, keys and jump hosts are those of the user's `~/.ssh/config`. A machine needs `sh` and an account
that may log in; the agent is copied to it once.
"""

from crosswind.testbed.ssh.programs import AgentProgram, agent_programs, note_on_programs
from crosswind.testbed.ssh.transport import SshTransport, start_agents

__all__ = ["AgentProgram", "SshTransport", "agent_programs", "note_on_programs", "start_agents"]
