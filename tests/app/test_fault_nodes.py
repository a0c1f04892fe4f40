"""Every application declares which of its nodes measure, and which it can start again."""

import pytest

from crosswind.spec import applications
from crosswind.spec.load import parse_experiment

DATABASE = {"db0", "db1", "client"}


def faults_on(application: str, *nodes: str) -> tuple[set[str], set[str] | None]:
    """Return the nodes that can be restarted, and those that measure, of an application in a file."""
    name = application.partition(":")[0]
    placed = ", ".join(f"{node}: h{number}" for number, node in enumerate(nodes))
    text = f"""\
name: small
topology: {{hosts: {len(nodes)}, uplink: {{rate: 1Gbit/s}}, nodes: {{{placed}}}}}
conditions: [none]
application: {{{application}}}
trials: {{repeat: 1, rest: 0s}}
"""
    parameters = parse_experiment(text.encode(), "small.yaml").parameters
    found = applications.tested(name, parameters, nodes).faults
    assert found is not None
    return set(found.restartable), None if found.measuring is None else set(found.measuring)


@pytest.mark.parametrize("store", ["postgresql", "redis", "valkey", "etcd", "mongodb", "cassandra"])
def test_every_server_of_a_store_can_be_restarted(store: str) -> None:
    found = faults_on(f"ycsb: {{store: {store}, workload: a, duration: 5s}}", *sorted(DATABASE))
    assert found == (DATABASE - {"client"}, {"client"})


@pytest.mark.parametrize(
    "application",
    ["rpc: {duration: 5s}", "memcached: {duration: 5s}", "web: {duration: 5s}", "dns: {duration: 5s}"],
)
def test_the_server_can_be_restarted_and_the_client_measures(application: str) -> None:
    assert faults_on(application, "server", "client") == ({"server"}, {"client"})


@pytest.mark.parametrize("application", ["iperf3: {duration: 5s}", "dns: {duration: 5s, protocol: tcp}"])
def test_servers_of_measuring_tools_are_not_restarted(application: str) -> None:
    assert faults_on(application, "server", "client") == (set(), {"client"})


def test_every_node_of_a_pattern_measures() -> None:
    assert faults_on("traffic: {pattern: ring, duration: 5s}", "a", "b") == (set(), {"a", "b"})


def test_the_roles_of_commands_can_be_restarted_except_the_load() -> None:
    commands = (
        "command: {load: b, metrics: {time: {elapsed: true, better: lower}}, duration: 5s, "
        "roles: {a: {command: [sleep, 9], ready: {port: 80}}, b: {command: [sleep, 5]}}}"
    )
    assert faults_on(commands, "a", "b") == ({"a"}, {"b"})
