"""The keys of a service that are not followed: without effect here, followed otherwise, or refused.

Source: the Compose Specification, "services" and "deploy". Each text is the end of a sentence that begins
with the key.
"""

from __future__ import annotations

_NODES = "nodes reach each other at every port"
_METADATA = "has no effect: nothing reads it during a test"
_NEVER_ROOT = "has no effect: services run without privileges anyway"
_ENGINE = "has no effect: no container engine runs the service"
_DEVICES = "opens devices, and services see only those that every process may use; leave it out"
_AFTER = "has no effect: servers are ended by SIGTERM, after the measurement"

# No trial differs with or without them.
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
    "stdin_open": "has no effect: nobody types during a test",
    "stop_grace_period": _AFTER,
    "stop_signal": _AFTER,
    "storage_opt": _ENGINE,
    "tty": "has no effect: nobody types during a test",
    "userns_mode": _NEVER_ROOT,
}
# What runs differs a little from what the engine would run.
OTHERWISE = {
    "blkio_config": "is not followed: nodes share the machine's disk without limits",
    "cpu_count": "is not followed; `cpus` limits a service",
    "cpu_percent": "is not followed; `cpus` limits a service",
    "cpu_shares": "is not followed: nodes have no weights; `cpus` limits a service",
    "cpuset": "is not followed: the machine decides on which CPU a service runs",
    "dns": "is not followed: nodes find each other by name, and reach nothing else",
    "dns_opt": "is not followed: nodes find each other by name, and reach nothing else",
    "dns_search": "is not followed: nodes find each other by name, and reach nothing else",
    "domainname": "is not followed: a node has a host name without a domain",
    "group_add": "is not followed: a service has the one group of its user",
    "ipc": "is not followed: each service has shared memory of its own",
    "mac_address": "is not followed: Crosswind gives addresses to nodes",
    "mem_reservation": "is not followed: memory is limited and never reserved",
    "mem_swappiness": "is not followed: the machine's own setting holds",
    "memswap_limit": "is not followed: the machine's own setting holds",
    "pid": "is not followed: each service sees the processes of its own node",
    "pids_limit": "is not followed: processes of a node are not counted",
    "shm_size": "is not followed: /dev/shm has the machine's own size",
    "ulimits": "is not followed: a service has the limits of Crosswind's own processes",
    "uts": "is not followed: each node has a host name of its own",
}
# Following them otherwise would be another test, or none.
REFUSED = {
    "cpu_period": "is a limit in the engine's own terms; write `cpus`, such as cpus: 0.5",
    "cpu_quota": "is a limit in the engine's own terms; write `cpus`, such as cpus: 0.5",
    "cpu_rt_period": "asks for real-time scheduling, which nodes do not have; leave it out",
    "cpu_rt_runtime": "asks for real-time scheduling, which nodes do not have; leave it out",
    "credential_spec": "is for Windows; leave it out",
    "device_cgroup_rules": _DEVICES,
    "devices": _DEVICES,
    "external_links": "names containers outside the file; make them services of it",
    "gpus": _DEVICES,
    "models": "runs a model outside the file; make it a service",
    "post_start": "runs commands inside a started service; put them into its command",
    "provider": "starts something outside the file; make it a service",
    "sysctls": "changes settings of the kernel, and services may not; leave it out",
    "use_api_socket": "needs a container engine at run time, and no engine runs the services; leave it out",
    "volumes_from": "takes volumes of another service; name them under `volumes`",
}
# What is followed, here or in services.py.
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
    "endpoint_mode": "has no effect: names lead to the nodes themselves, without a virtual address",
    "labels": _METADATA,
    "mode": "has no effect: a service has the number of nodes that `replicas` says",
    "placement": "has no effect: the topology says on which host a node is",
    "restart_policy": "has no effect: `restart` of the service is followed",
    "rollback_config": "has no effect: nothing is updated during a test",
    "update_config": "has no effect: nothing is updated during a test",
}
RESERVATIONS = "is not followed: resources are limited and never reserved"
PIDS = "is not followed: processes of a node are not counted"

# Capabilities that a program as an ordinary user mostly does without.
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
    "entitlements": "asks for privileges; build the image yourself and name it with `images`",
    "secrets": "would take secrets into a build; build the image yourself and name it with `images`",
    "ssh": "would take keys into a build; build the image yourself and name it with `images`",
    "extra_hosts": "is not passed on; build the image yourself and name it with `images`",
}
