"""A real OpenStack without hypervisors: Keystone, Placement, Glance, Neutron and Nova as they are released.

Servers of Nova's fake driver are rows in its database. Everything else is what a site runs: tokens, quotas,
scheduling with filters and server groups, networks, routers, floating addresses, tags. It has a MariaDB and a
RabbitMQ of its own (SQLite answers "database is locked" to several processes). All ports are on 127.0.0.1.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path
from urllib.error import HTTPError, URLError

from configuration import COMPUTE_HOSTS, DATABASES, PASSWORD, Ports, write_configuration

HERE = Path(__file__).parent
INSTALLED = Path(sys.prefix) / "openstack"
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
MARIADB = Path("/usr/sbin/mariadbd")
PROJECTS = ("first", "second")
_READY_S = 180.0
_LAST_WORDS = 2000


def missing() -> str | None:
    """Return why there can be no such cloud here, or None."""
    if os.geteuid() != 0:
        return "MariaDB and RabbitMQ of the tests run as root"
    if not (INSTALLED / "bin/nova-compute").exists() or not RABBITMQ.exists() or not MARIADB.exists():
        return "no OpenStack here; tests/live/openstack_services/install.sh installs one (590 MB)"
    return None


class Cloud:
    """A running cloud; with `env`, `openstack.connect(cloud=...)` finds `admin`, `first` and `second`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = Ports(*_free_ports(len(fields(Ports))))
        self.env = os.environ | {
            "OS_CLIENT_CONFIG_FILE": str(folder / "clouds.yaml"),
            "OS_KEYSTONE_CONFIG_FILES": str(folder / "keystone.conf"),
            "OS_KEYSTONE_CONFIG_DIR": str(folder),
            "OS_PLACEMENT_CONFIG_DIR": str(folder),
            "OS_GLANCE_CONFIG_DIR": str(folder),
            "OS_NEUTRON_CONFIG_DIR": str(folder),
            "OS_NEUTRON_CONFIG_FILES": "neutron.conf",
            "OS_NOVA_CONFIG_DIR": str(folder),
            "OS_NOVA_CONFIG_FILES": f"{INSTALLED}/etc/nova/api-paste.ini;nova.conf",
            "PYTHONPATH": f"{folder}:{HERE}",
            "PYTHONWARNINGS": "ignore",
        }

    def run(self, program: str, *words: str) -> str:
        """Run a program of the services' environment to its end, and return what it printed."""
        log = self.folder / "logs" / "set-up.log"
        with log.open("ab") as output:
            done = subprocess.run(
                [str(INSTALLED / "bin" / program), *words],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                check=False,
            )
        failure = f"{program} {' '.join(words)}: {done.returncode}\n"
        assert done.returncode == 0, failure + log.read_text(errors="replace")[-_LAST_WORDS:]
        return done.stdout

    def last_words(self) -> str:
        """Return the end of every log; the folder does not outlive a test."""
        logs = sorted((self.folder / "logs").iterdir())
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-_LAST_WORDS:]}" for log in logs)

    @contextmanager
    def service(self, name: str, *command: str, env: Mapping[str, str] | None = None) -> Iterator[None]:
        """Run a service while the block runs; its output goes into a log. It ends with this process, too."""
        with (self.folder / "logs" / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *command],
                env=env or self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def cloud(folder: Path) -> Iterator[Cloud]:
    """Start a cloud with three compute hosts in an empty folder; it takes about a minute."""
    it = Cloud(folder)
    for name in ("logs", "locks", "images", "neutron", *COMPUTE_HOSTS):
        (folder / name).mkdir()
    write_configuration(folder, it.ports, INSTALLED)
    (folder / "clouds.yaml").write_text(json.dumps({"clouds": _clouds(it.ports)}))
    with ExitStack() as stack:
        _start_rabbitmq(it, stack)
        _start_mariadb(it, stack)
        _start_keystone(it, stack)
        _start_others(it, stack)
        yield it


def _start_keystone(it: Cloud, stack: ExitStack) -> None:
    configured = ("--config-file", str(it.folder / "keystone.conf"))
    account = ("--keystone-user", str(os.geteuid()), "--keystone-group", str(os.getegid()))
    it.run("keystone-manage", *configured, "db_sync")
    it.run("keystone-manage", *configured, "fernet_setup", *account)
    it.run("keystone-manage", *configured, "credential_setup", *account)
    url = [f"--bootstrap-{kind}-url={it.ports.identity_url}" for kind in ("public", "internal", "admin")]
    url.append("--bootstrap-region-id=RegionOne")
    it.run("keystone-manage", *configured, "bootstrap", "--bootstrap-password", PASSWORD, *url)
    _serve(it, stack, "keystone", it.ports.keystone, "keystone.wsgi.api")
    _await(it, it.ports.keystone)
    endpoints = [
        ("placement", "placement", f"http://127.0.0.1:{it.ports.placement}"),
        ("image", "glance", f"http://127.0.0.1:{it.ports.glance}"),
        ("network", "neutron", f"http://127.0.0.1:{it.ports.neutron}"),
        ("compute", "nova", f"http://127.0.0.1:{it.ports.nova}/v2.1"),
    ]
    arguments = {"endpoints": endpoints, "projects": PROJECTS, "password": PASSWORD}
    it.run("python", str(HERE / "furnish.py"), json.dumps(arguments))


def _start_others(it: Cloud, stack: ExitStack) -> None:
    folder, ports = it.folder, it.ports
    it.run("glance-manage", "--config-file", str(folder / "glance-api.conf"), "db_sync")
    it.run("python", str(HERE / "neutron_tables.py"), ports.database_url("neutron"))
    it.run("neutron-db-manage", "--config-file", str(folder / "neutron.conf"), "stamp", "heads")
    nova = ("--config-file", str(folder / "nova.conf"))
    it.run("nova-manage", *nova, "api_db", "sync")
    it.run(
        "nova-manage",
        *nova,
        "cell_v2",
        "map_cell0",
        "--database_connection",
        ports.database_url("nova_cell0"),
    )
    it.run("nova-manage", *nova, "db", "sync")
    it.run(
        "nova-manage",
        *nova,
        "cell_v2",
        "create_cell",
        "--name",
        "cell1",
        "--database_connection",
        ports.database_url("nova_cell1"),
        "--transport-url",
        ports.transport_url,
    )
    _serve(it, stack, "placement", ports.placement, "placement.wsgi.api")
    _serve(it, stack, "glance", ports.glance, "glance.wsgi.api")
    _serve(it, stack, "neutron", ports.neutron, "neutron.wsgi.api")
    _serve(it, stack, "nova-api", ports.nova, "nova.wsgi.osapi_compute")
    for name in ("conductor", "scheduler"):
        stack.enter_context(it.service(f"nova-{name}", str(INSTALLED / f"bin/nova-{name}"), *nova))
    for port in (ports.placement, ports.glance, ports.neutron, ports.nova):
        _await(it, port)
    for host in COMPUTE_HOSTS:
        own = ("--config-file", str(folder / f"nova-{host}.conf"))
        stack.enter_context(it.service(f"compute-{host}", str(INSTALLED / "bin/nova-compute"), *nova, *own))
    it.run("python", str(HERE / "furnish.py"), "furnish")
    _await_hosts(it, nova)


def _start_rabbitmq(it: Cloud, stack: ExitStack) -> None:
    ports, own = it.ports, it.folder / "rabbitmq"
    own.mkdir()
    (own / "rabbitmq.conf").write_text(f"listeners.tcp.local = 127.0.0.1:{ports.rabbit}\n")
    (own / "plugins").write_text("[].\n")
    env = os.environ | {
        "HOME": str(own),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(ports.epmd),
        "RABBITMQ_NODENAME": f"test-{os.getpid()}@localhost",
        "RABBITMQ_DIST_PORT": str(ports.rabbit_distribution),
        "RABBITMQ_MNESIA_BASE": str(own / "mnesia"),
        "RABBITMQ_LOG_BASE": str(own / "log"),
        "RABBITMQ_CONFIG_FILE": str(own / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(own / "plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}",
    }
    stack.enter_context(it.service("epmd", "epmd", env=env))
    stack.enter_context(it.service("rabbitmq", str(RABBITMQ), env=env))
    _until(it, "RabbitMQ", lambda: _listens(ports.rabbit))


def _start_mariadb(it: Cloud, stack: ExitStack) -> None:
    own = it.folder / "mariadb"
    common = ["--no-defaults", f"--datadir={own}", "--user=root"]
    with (it.folder / "logs/mariadb-install.log").open("wb") as log:
        words = [*common, "--skip-test-db", "--auth-root-authentication-method=normal"]
        subprocess.run(["mariadb-install-db", *words], check=True, stdout=log, stderr=log)
    quick = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=128M", "--skip-log-bin"]
    # Its socket must not be the system's, and a path of more than 107 characters is refused.
    short = stack.enter_context(tempfile.TemporaryDirectory(prefix="mariadb-"))
    port = it.ports.database
    at = ["--bind-address=127.0.0.1", f"--port={port}", f"--socket={short}/socket", "--skip-name-resolve"]
    stack.enter_context(it.service("mariadb", str(MARIADB), *common, *at, *quick))
    _until(it, "MariaDB", lambda: _listens(port))
    create = "; ".join(f"CREATE DATABASE {name} CHARACTER SET utf8mb3" for name in DATABASES)
    client = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={port}", "--user=root"]
    subprocess.run([*client, f"--execute={create}"], check=True)


def _serve(it: Cloud, stack: ExitStack, name: str, port: int, module: str) -> None:
    python = str(INSTALLED / "bin/python")
    stack.enter_context(it.service(name, python, str(HERE / "serve.py"), str(port), module))


def _await(it: Cloud, port: int) -> None:
    _until(it, f"the service on port {port}", lambda: _answers(port))


def _await_hosts(it: Cloud, nova: Sequence[str]) -> None:
    def mapped() -> bool:
        # The scheduler's own task that finds hosts ends with its first error.
        it.run("nova-manage", *nova, "cell_v2", "discover_hosts")
        listed = it.run("nova-manage", *nova, "cell_v2", "list_hosts")
        return all(host in listed for host in COMPUTE_HOSTS)

    _until(it, "the compute hosts", mapped)


def _until(it: Cloud, what: str, done: object) -> None:
    deadline = time.monotonic() + _READY_S
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"{what}: not ready within {_READY_S:g} s\n{it.last_words()}"
        time.sleep(0.2)


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()
    except HTTPError:
        return True
    except (URLError, OSError):
        return False
    return True


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _clouds(ports: Ports) -> dict[str, object]:
    def of(name: str) -> dict[str, object]:
        account = {
            "auth_url": ports.identity_url,
            "username": name,
            "password": PASSWORD,
            "project_name": name,
            "user_domain_id": "default",
            "project_domain_id": "default",
        }
        return {"auth": account, "region_name": "RegionOne", "identity_api_version": 3}

    return {name: of(name) for name in ("admin", *PROJECTS)}
