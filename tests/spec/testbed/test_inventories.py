"""Inventories of other tools: what they list is found, and every bad one is refused with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.spec.quantities import QuantityError
from crosswind.spec.testbed.ansible_file import read_ansible
from crosswind.spec.testbed.inventory import MACHINES_MAX, InventoryMachine
from crosswind.spec.testbed.kubernetes import read_nodes
from crosswind.spec.testbed.slurm import read_node_list
from crosswind.spec.testbed.terraform import machines_of, read_outputs
from crosswind.spec.text_lines import LineError

INI = """\
# The example of Ansible's documentation, with variables.
mail.example.com

[webservers]
www[01:03].example.com ansible_user=deploy
www[05:09:2].example.com:2222   # with a port

[dbservers]
db-[a:c] ansible_host=10.0.0.1 ansible_port=5309
2001:db8::1

[webservers:vars]
ansible_port=22022
http_port = 80

[site:children]
webservers
dbservers

[all:vars]
ansible_user='ops'
"""
YAML = """\
# The same in YAML.
all:
  vars: {ansible_user: ops}
  hosts:
    mail.example.com:
  children:
    site:
      children:
        webservers:
          vars: {ansible_port: 22022, http_port: 80, packages: [nginx]}
          hosts:
            www[01:03].example.com: {ansible_user: deploy}
            www[05:09:2].example.com: {ansible_port: 2222}
        dbservers:
          hosts:
            db-[a:c]: {ansible_host: 10.0.0.1, ansible_port: 5309}
            2001:db8::1:
"""
MACHINES = [
    InventoryMachine("mail.example.com", user="ops"),
    *(InventoryMachine(f"www0{number}.example.com", port=22022, user="deploy") for number in (1, 2, 3)),
    *(InventoryMachine(f"www0{number}.example.com", port=2222, user="ops") for number in (5, 7, 9)),
    *(InventoryMachine(f"db-{letter}", "10.0.0.1", 5309, "ops") for letter in "abc"),
    InventoryMachine("2001:db8::1", user="ops"),
]


@pytest.mark.parametrize("text", [INI, YAML])
def test_both_formats_of_ansible_give_hosts_with_the_variables_nearest_to_them(text: str) -> None:
    inventory = read_ansible(text.encode())
    assert inventory.machines(None) == MACHINES
    assert inventory.machines("site") == MACHINES[1:]
    assert inventory.machines("dbservers") == MACHINES[-4:]
    assert inventory.machines("ungrouped") == MACHINES[:1]


def test_among_groups_that_are_equally_far_the_last_by_name_counts() -> None:
    text = "[b]\nh\n[a]\nh\n[b:vars]\nansible_port=2\n[a:vars]\nansible_port=1\n"
    assert read_ansible(text.encode()).machines(None) == [InventoryMachine("h", port=2)]


@pytest.mark.parametrize(
    ("text", "group", "expected"),
    [
        ("", None, "has no hosts"),
        ("[web\nh\n", None, 'line 1: "[web" is not a section'),
        ("[web:hosts:x]\n", None, 'line 1: "[web:hosts:x]" is not a section'),
        ("[web:things]\nh\n", None, 'line 1: "[web:things]": "things" is neither hosts, children nor vars'),
        ("h ansible_user\n", None, 'line 1: "ansible_user" is not a variable; write name=value'),
        ("h 'x\n", None, "line 1: has quotes that do not end (No closing quotation); close them"),
        ("a\nh[1:\n", None, 'line 2: "h[1:" has a bracket without its other one'),
        ("h[9:1]\n", None, 'line 1: "h[9:1]": "9:1" has no value; write the smaller end first'),
        ("h[1:9:0]\n", None, 'line 1: "h[1:9:0]": "1:9:0" has no value'),
        ("h[1-9]\n", None, 'line 1: "h[1-9]": "1-9" is not a range; write [01:50] or [a:f]'),
        (f"h[0:{MACHINES_MAX}]\n", None, f"is more than {MACHINES_MAX} machines"),
        ("h[0:99][0:99]\n", None, f"is more than {MACHINES_MAX} machines"),
        ("root@h\n", None, 'line 1: "root@h" has a user in it; write h, and the user as User in'),
        ("[a:children]\nb\n[c]\nh\n", None, 'line 2: group "a" has the child "b", which is no group'),
        ("[a:children]\nb\n[b:children]\na\n[c]\nh\n", None, "contains itself by way of"),
        ("h\n", "web", 'has no group "web"; groups are none'),
        ("[web]\n[db]\nh\n", "web", 'group "web" has no hosts'),
        (
            "h ansible_connection=docker\n",
            None,
            'line 1: h: ansible_connection is "docker"; machines are reached',
        ),
        (
            "h\n[all:vars]\nansible_ssh_private_key_file=k\n",
            None,
            "line 1: h: ansible_ssh_private_key_file is not used; write IdentityFile for it in ~/.ssh/config",
        ),
        ("h ansible_host={{ip}}\n", None, 'line 1: h: ansible_host is a template, "{{ip}}"; write its value'),
        ("h ansible_host=-oProxyCommand=x\n", None, 'h: ansible_host is "-oProxyCommand=x"; write one word'),
        ("h ansible_host='a b'\n", None, 'h: ansible_host is "a b"; write one word'),
        ("h ansible_host=a;b\n", None, '"a;b" is not a name of a machine'),
        ("h ansible_port=ssh\n", None, 'line 1: h: the port "ssh" is not a number from 1 to 65535'),
        ("h:0\n", None, 'the port "0" is not a number from 1 to 65535'),
        ("all:\n  hosts: [a, b]\n", None, 'line 2: "hosts" is a list, where a mapping is expected'),
        (
            "all:\n  hots:\n    a:\n",
            None,
            'line 2: group "all" has the key "hots"; keys are hosts, children, vars',
        ),
        ("all:\n  hosts: {a: 1}\n", None, 'line 2: "a" is "1", where a mapping is expected'),
        ("all: {\n", None, "line 2: is not YAML"),
        ("---\n- a\n", None, "line 2: is a list, where a mapping is expected"),
        ("all:\n  children: {web: }\n", None, "has no hosts; write them below a group's `hosts`"),
    ],
)
def test_a_bad_ansible_inventory_is_refused_with_its_line(
    text: str, group: str | None, expected: str
) -> None:
    with pytest.raises(LineError, match=re.escape(expected)):
        read_ansible(text.encode()).machines(group)


def test_a_slurm_node_list_is_written_out_as_scontrol_does() -> None:
    # `scontrol show hostnames` of Slurm 23.11 for the same texts.
    for text, names in {
        "node[01-04,07]": ["node01", "node02", "node03", "node04", "node07"],
        "login1": ["login1"],
        "a[8-11],b3,c[001]": ["a8", "a9", "a10", "a11", "b3", "c001"],
        "rack[1-2]n[01-02]": ["rack1n01", "rack1n02", "rack2n01", "rack2n02"],
        "n[1,3]-ib": ["n1-ib", "n3-ib"],
    }.items():
        assert read_node_list(text) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "at character 1: a name is missing"),
        ("a,,b", "at character 3: a name is missing"),
        ("node[01-04", "at character 5: the bracket is not closed"),
        ("node01-04]", "at character 10: a bracket is closed that was not opened"),
        ("n[1[2]]", "at character 4: a bracket is opened inside another"),
        ("n[1-x]", 'at character 3: "1-x" is neither a number nor a range'),
        ("n[1,4-2]", 'at character 5: "4-2" ends before it begins'),
        ("a1,n[]", 'at character 6: "" is neither a number nor a range'),
        ("n[1-9999]", f"has more than {MACHINES_MAX} nodes"),
        ("n[1-99]m[1-99]", f"there are more than {MACHINES_MAX} nodes"),
        ("n1,n[1-2]", 'at character 4: "n1" is listed twice'),
        ("n 1", 'at character 1: "n 1" is not a name of a machine'),
        ("-n[1-2]", '"-n1" is not a name of a machine'),
    ],
)
def test_a_bad_node_list_is_refused_at_its_character(text: str, expected: str) -> None:
    with pytest.raises(QuantityError, match=re.escape(expected)):
        read_node_list(text)


NAMES = st.text("abc", min_size=1, max_size=3)
NUMBERS = st.lists(st.integers(0, 99), min_size=1, max_size=5, unique=True)


@given(st.lists(st.tuples(NAMES, NUMBERS), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
def test_a_compressed_node_list_is_written_out_again(groups: list[tuple[str, list[int]]]) -> None:
    names = [f"{name}-{number:02}" for name, numbers in groups for number in numbers]
    text = ",".join(f"{name}-[{','.join(f'{number:02}' for number in numbers)}]" for name, numbers in groups)
    assert read_node_list(text) == names


def outputs(**values: object) -> bytes:
    """Return what `terraform output -json` prints."""
    return json.dumps(
        {name: {"sensitive": False, "type": "dynamic", "value": value} for name, value in values.items()}
    ).encode()


def test_outputs_of_terraform_are_lists_maps_or_objects() -> None:
    read = read_outputs(
        outputs(
            one="10.0.0.1",
            ips=["10.0.0.1", "m1.example.com"],
            named={"m0": "10.0.0.1", "m1": "10.0.0.2"},
            objects=[{"name": "m0", "address": "10.0.0.1", "cores": 8, "zone": "a"}, {"name": "m1"}],
        )
    )
    m0 = InventoryMachine("m0", host_name="10.0.0.1")
    assert machines_of(read, "one") == [InventoryMachine("10.0.0.1")]
    assert machines_of(read, "ips") == [InventoryMachine("10.0.0.1"), InventoryMachine("m1.example.com")]
    assert machines_of(read, "named") == [m0, InventoryMachine("m1", host_name="10.0.0.2")]
    assert machines_of(read, "objects") == [
        InventoryMachine("m0", host_name="10.0.0.1", cores=8),
        InventoryMachine("m1"),
    ]
    assert machines_of(read_outputs(outputs(ips=["a"])), None) == [InventoryMachine("a")]


@pytest.mark.parametrize(
    ("content", "output", "expected"),
    [
        (b'{"a": \n', None, "line 2: column 1: is not JSON: expecting value"),
        (b"\xff", None, "line 1: is not UTF-8"),
        (b"[" * 100_000, None, "is not JSON that can be read"),
        (b"{}", None, "has no outputs"),
        (b'{"ips": ["a"]}', None, 'output "ips" has no value; write it with `terraform output -json`'),
        (outputs(a=["x"], b=["y"]), None, "has the outputs a, b; name one, such as output: a"),
        (outputs(ips=["x"]), "ip", 'has no output "ip"; did you mean "ips"?'),
        (outputs(ips=[]), None, 'output "ips" has no machines'),
        (outputs(ips=[1]), None, 'output "ips": "1" is not a host name or an address'),
        (outputs(ips=["x", "x"]), None, 'has "x" twice'),
        (outputs(ips={"m0": 1}), None, 'output "ips": "m0" is not an address'),
        (
            outputs(ips=[{"name": "m0", "cores": "8"}]),
            None,
            'output "ips": cores: input should be a valid integer',
        ),
        (outputs(ips=["a b"]), None, '"a b" is not a name of a machine'),
    ],
)
def test_bad_outputs_are_refused(content: bytes, output: str | None, expected: str) -> None:
    with pytest.raises(LineError, match=re.escape(expected)):
        machines_of(read_outputs(content), output)


def node(name: str, ready: str = "True", cpu: str = "8", **addresses: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"a": "b"}},
        "spec": {"podCIDR": "10.244.0.0/24"},
        "status": {
            "addresses": [{"type": kind, "address": address} for kind, address in addresses.items()],
            "allocatable": {"cpu": cpu, "memory": "32Gi"},
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}],
        },
    }


def cluster(*nodes: object, kind: str = "List") -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": kind, "items": nodes}).encode()


def test_nodes_of_a_cluster_are_reached_at_their_internal_addresses() -> None:
    content = cluster(
        node("n0", InternalIP="10.0.0.1", ExternalIP="198.51.100.1", Hostname="n0"),
        node("n1", cpu="7910m", ExternalIP="198.51.100.2"),
        node("n2", cpu="500m", Hostname="n2"),
    )
    assert read_nodes(content) == [
        InventoryMachine("n0", host_name="10.0.0.1", cores=8),
        InventoryMachine("n1", host_name="198.51.100.2", cores=7),
        InventoryMachine("n2", cores=1),
    ]
    assert read_nodes(json.dumps(node("n0")).encode()) == [InventoryMachine("n0", cores=8)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"NAME STATUS", "line 1: column 1: is not JSON"),
        (b"[]", "has no kind, where nodes are expected"),
        (cluster(kind="PodList"), 'has the kind "PodList", where nodes are expected'),
        (cluster(), "has no nodes"),
        (cluster(node("n0", ready="Unknown")), 'node "n0" is not ready'),
        (cluster(node("n0", cpu="many")), 'node "n0": cpu "many" is not a number of cores'),
        (cluster(node("n0"), node("n0")), 'has "n0" twice'),
        (cluster({"kind": "Node"}), "items[0].metadata: field required"),
        (cluster(node("n0") | {"kind": "Pod"}), 'has a Pod "n0"'),
    ],
)
def test_a_bad_list_of_nodes_is_refused(content: bytes, expected: str) -> None:
    with pytest.raises(LineError, match=re.escape(expected)):
        read_nodes(content)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**20)
    | st.text(max_size=4)
    | st.sampled_from(["List", "Node"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["kind", "items", "metadata", "name", "status", "value", "address", "cores", "cpu", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
# Lines that are nearly an inventory.
LINES = st.lists(
    st.sampled_from(
        [*INI.splitlines(), *YAML.splitlines(), "[", "]", ":", "=", "- a", "{}", "a[", "[a:b]", "\t"]
    )
    | st.text(max_size=6),
    max_size=12,
)


def refusal(read: Callable[[], object]) -> str | None:
    """Return why something is not read, or None where it is."""
    try:
        read()
    except (LineError, QuantityError) as error:
        return str(error)
    return None


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for read in (read_ansible, read_nodes, lambda found: machines_of(read_outputs(found), None)):
        why = refusal(lambda read=read: read(content))
        assert why is None or (why and "\n" not in why)


@given(LINES)
def test_any_lines_are_an_inventory_or_refused_in_one_line(lines: list[str]) -> None:
    content = "\n".join(lines).encode(errors="replace")
    why = refusal(lambda: read_ansible(content).machines(None))
    assert "\n" not in why if why else 0 < len(read_ansible(content).machines(None)) <= MACHINES_MAX


@given(st.text(alphabet="ab01[]-,: x", max_size=20) | st.text(max_size=20))
def test_any_text_is_a_node_list_or_refused_at_a_character(text: str) -> None:
    why = refusal(lambda: read_node_list(text))
    assert ("at character" in why and "\n" not in why) if why else read_node_list(text)
