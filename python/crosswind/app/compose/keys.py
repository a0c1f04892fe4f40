"""The keys of a service that are ignored, handled differently, or refused.

Source: the Compose Specification, "services" and "deploy". Each text is the end of a sentence that begins
with the key.
"""

from __future__ import annotations

_NODES = "nodes reach each other at every port"
_METADATA = "has no effect: nothing reads it during a test"
_NEVER_ROOT = "has no effect: services run without privileges anyway"
_ENGINE = "has no effect: no container engine runs the service"
_DEVICES = "needs devices, but services see only those that every process may use; leave it out"
_AFTER = "has no effect: servers are stopped with SIGTERM, after the measurement"

# They make no difference to a trial.
WITHOUT_EFFECT = {
    "annotations": _METADATA,
    "attach": "has no effect: all output is in the logs of the results",
    "cap_drop": _NEVER_ROOT,
    "cgroup": _ENGINE,
    "cgroup_parent": _ENGINE,
    "develop": "has no effect: nothing is developed during a test",
    "init": "has no effect: every node has an init process",
    "isolation": _ENGINE,
    "label_file": _METADATA,
    "labels": _METADATA,
    "logging": "has no effect: all output is in the logs of the results",
    "oom_kill_disable": _ENGINE,
    "oom_score_adj": _ENGINE,
    "pre_stop": _AFTER,
    "pull_policy": "has no effect: images are taken from this machine, and nothing is pulled",
    "pull_refresh_after": "has no effect: images are taken from this machine, and nothing is pulled",
    "read_only": "has no effect: each trial begins with a fresh copy of the image",
    "security_opt": _NEVER_ROOT,
    "stdin_open": "has no effect: a test has no terminal",
    "stop_grace_period": _AFTER,
    "stop_signal": _AFTER,
    "storage_opt": _ENGINE,
    "tty": "has no effect: a test has no terminal",
    "userns_mode": _NEVER_ROOT,
}
# Services run slightly differently than in a container engine.
OTHERWISE = {
    "blkio_config": "is ignored: nodes share the machine's disk without limits",
    "cpu_count": "is ignored; `cpus` limits a service",
    "cpu_percent": "is ignored; `cpus` limits a service",
    "cpu_shares": "is ignored: nodes have no weights; `cpus` limits a service",
    "cpuset": "is ignored: the machine decides on which CPU a service runs",
    "dns": "is ignored: nodes resolve each other's names, and reach nothing else",
    "dns_opt": "is ignored: nodes resolve each other's names, and reach nothing else",
    "dns_search": "is ignored: nodes resolve each other's names, and reach nothing else",
    "domainname": "is ignored: a node has a host name without a domain",
    "group_add": "is ignored: a service has only the group of its user",
    "ipc": "is ignored: each service has its own shared memory",
    "mac_address": "is ignored: Crosswind assigns addresses to nodes",
    "mem_reservation": "is ignored: memory can be limited, but not reserved",
    "mem_swappiness": "is ignored: the setting of the machine applies",
    "memswap_limit": "is ignored: the setting of the machine applies",
    "pid": "is ignored: each service sees the processes of its own node",
    "pids_limit": "is ignored: processes of a node are not counted",
    "shm_size": "is ignored: /dev/shm has the size of the machine's",
    "ulimits": "is ignored: a service has the limits of Crosswind's own processes",
    "uts": "is ignored: each node has its own host name",
}
# Without them, it would be a different test.
REFUSED = {
    "cpu_period": "is a limit in the engine's own terms; write `cpus` instead, such as cpus: 0.5",
    "cpu_quota": "is a limit in the engine's own terms; write `cpus` instead, such as cpus: 0.5",
    "cpu_rt_period": "needs real-time scheduling, which nodes do not have; leave it out",
    "cpu_rt_runtime": "needs real-time scheduling, which nodes do not have; leave it out",
    "credential_spec": "is for Windows; leave it out",
    "device_cgroup_rules": _DEVICES,
    "devices": _DEVICES,
    "external_links": "names containers outside the file; make them services of it",
    "gpus": _DEVICES,
    "models": "runs a model outside the file; make it a service",
    "post_start": "runs commands inside a started service; put them into its command",
    "provider": "starts something outside the file; make it a service",
    "sysctls": "changes settings of the kernel, which services may not; leave it out",
    "use_api_socket": "needs a container engine at run time, but no engine runs the services; leave it out",
    "volumes_from": "uses volumes of another service; name them under `volumes`",
}
# The keys that are supported.
FOLLOWED = {
    "build", "cap_add", "command", "configs", "container_name", "cpus", "depends_on", "deploy", "entrypoint",
    "env_file", "environment", "expose", "extends", "extra_hosts", "healthcheck", "hostname", "image",
    "links", "mem_limit", "network_mode", "networks", "platform", "ports", "privileged", "profiles",
    "restart", "runtime", "scale", "secrets", "tmpfs", "user", "volumes", "working_dir", "x-crosswind",
}  # fmt: skip
ALL = sorted(WITHOUT_EFFECT.keys() | OTHERWISE.keys() | REFUSED.keys() | FOLLOWED)

PORTS = f"has no effect: nothing is published, and {_NODES}"

# The parts of `deploy` beside `replicas` and `resources`.
DEPLOY = {
    "endpoint_mode": "has no effect: names resolve to the nodes themselves, without a virtual address",
    "labels": _METADATA,
    "mode": "has no effect: `replicas` sets the number of nodes of a service",
    "placement": "has no effect: the topology places nodes on hosts",
    "restart_policy": "has no effect: `restart` of the service applies",
    "rollback_config": "has no effect: nothing is updated during a test",
    "update_config": "has no effect: nothing is updated during a test",
}
RESERVATIONS = "is ignored: resources can be limited, but not reserved"
PIDS = "is ignored: processes of a node are not counted"

# Capabilities that most programs do not need as an ordinary user.
SPARED_CAPABILITIES = {
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "IPC_LOCK", "KILL", "MKNOD",
    "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "SYS_NICE", "SYS_RESOURCE",
}  # fmt: skip

BUILD_WITHOUT_EFFECT = {
    "cache_from", "cache_to", "labels", "no_cache", "platforms", "provenance", "pull", "sbom", "tags",
    "isolation", "shm_size", "ulimits", "privileged",
}  # fmt: skip
BUILD_REFUSED = {
    "additional_contexts": "has files outside the context; copy them into it",
    "entitlements": "needs privileges; build the image yourself and name it with `images`",
    "secrets": "uses secrets in a build; build the image yourself and name it with `images`",
    "ssh": "uses keys in a build; build the image yourself and name it with `images`",
    "extra_hosts": "is not passed on; build the image yourself and name it with `images`",
}
