"""Configuration of the services of OpenStack for one folder, with ports on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# Of the cloud that a test starts and throws away; nothing else accepts it.
PASSWORD = "test"
COMPUTE_HOSTS = ("compute0", "compute1", "compute2")
EXTERNAL = "public"
DATABASES = ("keystone", "placement", "glance", "neutron", "nova_api", "nova_cell0", "nova_cell1")

Sections = Mapping[str, Mapping[str, object]]


@dataclass(frozen=True)
class Ports:
    """TCP ports on 127.0.0.1."""

    keystone: int
    placement: int
    glance: int
    neutron: int
    nova: int
    rabbit: int
    rabbit_distribution: int
    database: int
    epmd: int

    @property
    def identity_url(self) -> str:
        """Where Keystone answers."""
        return f"http://127.0.0.1:{self.keystone}/v3"

    def database_url(self, name: str) -> str:
        """Where MariaDB has a database."""
        return f"mysql+pymysql://root@127.0.0.1:{self.database}/{name}?charset=utf8mb3"

    @property
    def transport_url(self) -> str:
        """Where RabbitMQ answers."""
        return f"rabbit://guest:guest@127.0.0.1:{self.rabbit}/"


_DRIVER = """\
[neutron.ml2.mechanism_drivers]
any_host = any_host:AnyHost
"""


def write_configuration(folder: Path, ports: Ports, installed: Path) -> None:
    """Write the configuration files of all services.

    Args:
        installed: the virtual environment that they are installed in.
    """
    for name, sections in _files(folder, ports, installed).items():
        (folder / name).write_text(_text(sections))
    # Neutron finds drivers by the metadata of installed packages.
    info = folder / "any_host-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: any-host\nVersion: 1\n")
    (info / "entry_points.txt").write_text(_DRIVER)


def _files(folder: Path, ports: Ports, installed: Path) -> dict[str, Sections]:
    account = _account(ports)
    token = account | {"www_authenticate_uri": ports.identity_url}
    locks = {"lock_path": folder / "locks"}
    nova: Sections = {
        "DEFAULT": {
            "transport_url": ports.transport_url,
            "state_path": folder,
            "compute_driver": "fake.MediumFakeDriver",
            "my_ip": "127.0.0.1",
        },
        "api": {"auth_strategy": "keystone"},
        "api_database": {"connection": ports.database_url("nova_api")},
        "database": {"connection": ports.database_url("nova_cell1")},
        "keystone_authtoken": token,
        "placement": account | {"region_name": "RegionOne"},
        "neutron": account | {"region_name": "RegionOne"},
        "glance": account | {"region_name": "RegionOne"},
        "service_user": account | {"send_service_user_token": True},
        "cinder": account,
        "oslo_concurrency": locks,
        "scheduler": {"workers": 1},
        "conductor": {"workers": 1},
        "filter_scheduler": {
            "enabled_filters": "ComputeFilter,ImagePropertiesFilter,ServerGroupAntiAffinityFilter,"
            "ServerGroupAffinityFilter,SameHostFilter,DifferentHostFilter"
        },
    }
    return {
        "keystone.conf": {
            "database": {"connection": ports.database_url("keystone")},
            "fernet_tokens": {"key_repository": folder / "fernet"},
            "credential": {"key_repository": folder / "credential"},
            "cache": {"enabled": False},
        },
        "placement.conf": {
            "placement_database": {
                "connection": ports.database_url("placement"),
                "sync_on_startup": True,
            },
            "api": {"auth_strategy": "keystone"},
            "keystone_authtoken": token,
        },
        "glance-api.conf": {
            "DEFAULT": {"enabled_backends": "file:file"},
            "database": {"connection": ports.database_url("glance")},
            "glance_store": {"default_backend": "file"},
            "file": {"filesystem_store_datadir": folder / "images"},
            "keystone_authtoken": token,
            "oslo_concurrency": locks,
            "paste_deploy": {
                "flavor": "keystone",
                "config_file": installed / "etc/glance/glance-api-paste.ini",
            },
        },
        "neutron.conf": {
            "DEFAULT": {
                "transport_url": ports.transport_url,
                "core_plugin": "ml2",
                "service_plugins": "router",
                "state_path": folder / "neutron",
                "api_paste_config": installed / "etc/neutron/api-paste.ini",
                "notify_nova_on_port_status_changes": False,
                "notify_nova_on_port_data_changes": False,
                "rpc_workers": 0,
            },
            "database": {"connection": ports.database_url("neutron")},
            "keystone_authtoken": token,
            "oslo_concurrency": locks,
            "ml2": {
                "mechanism_drivers": "any_host",
                "type_drivers": "flat,vxlan",
                "tenant_network_types": "vxlan",
            },
            "ml2_type_flat": {"flat_networks": EXTERNAL},
            "ml2_type_vxlan": {"vni_ranges": "1:1000"},
        },
        "nova.conf": nova,
        **{
            f"nova-{host}.conf": {
                "DEFAULT": {"host": host, "state_path": folder / host},
            }
            for host in COMPUTE_HOSTS
        },
    }


def _account(ports: Ports) -> dict[str, object]:
    """Return the account with which services call each other."""
    return {
        "auth_type": "password",
        "auth_url": ports.identity_url,
        "username": "admin",
        "password": PASSWORD,
        "project_name": "admin",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }


def _text(sections: Sections) -> str:
    lines = []
    for name, options in sections.items():
        lines += [f"[{name}]", *(f"{option} = {value}" for option, value in options.items()), ""]
    return "\n".join(lines)
