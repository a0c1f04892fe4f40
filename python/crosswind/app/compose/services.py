"""Convert a service to the form that its model reads: each key is used, noted or refused."""

from __future__ import annotations

import re
from functools import partial

from crosswind.app.compose import keys
from crosswind.app.compose.build import read_build
from crosswind.app.compose.located import Located
from crosswind.app.compose.merge import as_mapping
from crosswind.app.compose.mount import read_bool
from crosswind.app.compose.service import node_name
from crosswind.app.compose.service_environment import read_environment
from crosswind.app.compose.service_mounts import read_mounts
from crosswind.app.compose.service_network import read_networks, read_ports
from crosswind.app.compose.service_text import X_CROSSWIND, Context, ServiceText, is_extension
from crosswind.app.compose.words import read_whole
from crosswind.spec.quantities import QuantityError, shown
from crosswind.text.nearest import did_you_mean

_REPLICAS_MAX = 100
_HOSTNAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?")
# Keys of an image that have no meaning for a program that runs instead of it.
_OF_IMAGES = ("image", "build", "command", "entrypoint", "user", "working_dir")
_FILES = ("volumes", "tmpfs", "secrets", "configs")
# Keys that the model has under other names, or not at all.
_TAKEN = {
    "cap_add", "container_name", "env_file", "expose", "extends", "links", "network_mode", "platform",
    "privileged", "profiles", "runtime", "scale", *_FILES,
}  # fmt: skip


class ServiceReader:
    """Reads one service.

    Args:
        name: of the service.
        written: its content in the file.
    """

    def __init__(self, name: str, written: Located, context: Context) -> None:
        self._service = ServiceText(name, written, context)
        self._items, self._context = self._service.items, context
        self._note, self._wrong = self._service.note, self._service.wrong

    def read(self) -> Located:
        """Return the service in the form of its model; add errors to the problems of the context."""
        found: dict[str, Located] = {}
        if X_CROSSWIND in self._items:
            self._replace_image()
        for key, item in self._items.items():
            if self._is_followed(key, item):
                found[key] = item
        for key, make in (
            ("build", self._build),
            ("environment", partial(read_environment, self._service)),
            ("networks", partial(read_networks, self._service)),
            ("ports", partial(read_ports, self._service)),
            ("mounts", partial(read_mounts, self._service)),
            ("extra_hosts", self._extra_hosts),
            ("healthcheck", self._healthcheck),
            ("deploy", self._deploy),
            ("replicas", self._replicas),
            ("depends_on", self._dependencies),
            ("user", self._user),
            ("hostname", self._hostname),
            ("restart", self._restart),
        ):
            found.pop(key, None)
            try:
                made = make()
            except QuantityError as error:
                self._wrong(key, str(error))
                continue
            if made is not None:
                found[key] = made
        if "build" in self._items and "image" not in found:
            found["image"] = self._items["build"].made(f"{self._context.project}-{self._service.name}")
        self._check()
        return self._service.written.with_value(
            {key: item for key, item in found.items() if key not in _TAKEN}
        )

    def _is_followed(self, key: str, item: Located) -> bool:
        """Return whether a key is supported; note or refuse all others."""
        if key in keys.WITHOUT_EFFECT:
            self._note(key, keys.WITHOUT_EFFECT[key])
        elif key in keys.OTHERWISE:
            self._note(key, keys.OTHERWISE[key], matters=True)
        elif key in keys.REFUSED:
            if item.value not in (None, [], {}, False):
                self._wrong(key, keys.REFUSED[key])
        elif key in keys.FOLLOWED:
            return item.value is not None
        else:
            remedy = did_you_mean(key, keys.ALL) or f"keys are {', '.join(keys.ALL)}"
            self._context.problems.append(
                item.key.problem(f'services.{self._service.name}: unknown key "{key}"; {remedy}')
            )
        return False

    def _replace_image(self) -> None:
        """Remove keys that only an image has, if a program of this machine runs instead of it."""
        for key in (*_OF_IMAGES, *_FILES):
            if key in self._items:
                what = "its files are" if key in _FILES else "it is"
                self._note(key, f"has no effect: {X_CROSSWIND} replaces the image, so {what} not used")
                del self._items[key]

    # --- one key after another -----------------------------------------------------------------------------

    def _build(self) -> Located | None:
        item = self._items.get("build")
        if item is None or item.value is None:
            return None
        build, spared = read_build(item, self._context.files, self._context.values)
        self._note("build", "is done once, by podman or docker, before the first trial")
        for key in spared:
            self._context.note(
                item.items[key].key, f"build.{key}", "has no effect on the image that is tested"
            )
        return item.made(build.model_dump())

    def _extra_hosts(self) -> Located | None:
        written = self._items.get("extra_hosts")
        if written is None:
            return None
        found = {}
        pairs = written.items or {}
        for entry in written.list:
            name, _, address = re.sub(r"^([^=:]+)[=:]", r"\1=", str(entry.value)).partition("=")
            pairs = {**pairs, name: entry.with_value(address)}
        for name, item in pairs.items():
            if item.value == "host-gateway":
                raise QuantityError(
                    f"has {shown(name)} for this machine itself, which nodes cannot reach; make it a service"
                )
            found[name] = str(item.value)
        return written.made(found)

    def _healthcheck(self) -> Located | None:
        written = self._items.get("healthcheck")
        if written is None or not isinstance(written.value, dict):
            return written
        entries = {key: item for key, item in written.value.items() if not is_extension(key)}
        disabled, test = entries.pop("disable", None), entries.get("test")
        is_none = test is not None and test.plain() in (["NONE"], "NONE")
        if is_none or (disabled is not None and read_bool(disabled.value)):
            return None
        if test is None:
            self._note(
                "healthcheck", "is ignored without a test: that of the image is not used", matters=True
            )
            return None
        return written.with_value(entries)

    def _deploy(self) -> Located | None:
        """Return only the limits of `deploy`; note the rest."""
        written = self._items.get("deploy")
        if written is None or not isinstance(written.value, dict):
            return written
        for key, item in written.value.items():
            if key in keys.DEPLOY:
                self._context.note(item.key, f"deploy.{key}", keys.DEPLOY[key])
            elif key not in ("replicas", "resources") and not is_extension(key):
                raise QuantityError(f'has "{key}", which is not a key of deploy; leave it out')
        resources = written.items.get("resources")
        if resources is None or not isinstance(resources.value, dict):
            return None
        for key, item in resources.value.items():
            if key == "reservations":
                if "devices" in item.items:
                    raise QuantityError(
                        "reserves devices, but services see only those that every process may use; "
                        "leave it out"
                    )
                self._context.note(item.key, "deploy.resources.reservations", keys.RESERVATIONS, matters=True)
        limits = resources.items.get("limits")
        if limits is None or not isinstance(limits.value, dict):
            return None
        if "pids" in limits.value:
            self._context.note(
                limits.items["pids"].key, "deploy.resources.limits.pids", keys.PIDS, matters=True
            )
        kept = {key: item for key, item in limits.value.items() if key != "pids"}
        return written.with_value({"resources": resources.with_value({"limits": limits.with_value(kept)})})

    def _replicas(self) -> Located | None:
        deploy = self._items.get("deploy")
        item = self._items.get("scale") or (None if deploy is None else deploy.items.get("replicas"))
        if item is None:
            return None
        count = read_whole(item.value)
        if count > _REPLICAS_MAX:
            raise QuantityError(f"has {count} replicas; write at most {_REPLICAS_MAX}")
        if count > 1:
            first = node_name(self._service.name)
            says = (
                f"makes the nodes {first} to {first}-{count}; in a service with an image, "
                f"{self._service.name} means all of them, in others the first"
            )
            self._context.note(item.key, "replicas", says, matters=True)
        return item.with_value(count)

    def _dependencies(self) -> Located | None:
        written = self._items.get("depends_on")
        if written is None:
            return self._linked(None)
        pairs = as_mapping(written, names=True)
        if not isinstance(pairs.value, dict):
            return written
        services = self._context.tree.items.get("services")
        found: dict[str, Located] = {}
        for name, item in pairs.value.items():
            required = item.items.get("required")
            is_there = services is not None and name in services.items
            if required is not None and not read_bool(required.value) and not is_there:
                continue
            if "restart" in item.items:
                self._context.note(
                    item.items["restart"].key, "restart", "of a dependency has no effect during a test"
                )
            kept = {key: value for key, value in item.items.items() if key not in ("required", "restart")}
            found[name] = item.with_value(kept) if isinstance(item.value, dict) else item
        return self._linked(written.with_value(found))

    def _linked(self, dependencies: Located | None) -> Located | None:
        """Return dependencies, with those from `links`."""
        found = dict({} if dependencies is None else dependencies.items)
        for item in self._service.listed("links"):
            found.setdefault(str(item.value).partition(":")[0], item.made({}))
        return (dependencies or self._service.written).with_value(found) if found else None

    def _user(self) -> Located | None:
        """Return the user; None for root, because no service runs as root."""
        item = self._items.get("user")
        if item is None or str(item.value).split(":")[0] not in ("root", "0"):
            return item
        self._note(
            "user", "is ignored: no service runs as root; it runs as Crosswind's account", matters=True
        )
        return None

    def _hostname(self) -> Located | None:
        """Return the host name, if it is not the name of the node."""
        item = self._items.get("hostname")
        if item is None or str(item.value) == node_name(self._service.name):
            return None
        if not _HOSTNAME.fullmatch(str(item.value)):
            raise QuantityError(
                f"{shown(item.value)} is not a host name; use up to 64 letters, digits, dots, hyphens"
            )
        if X_CROSSWIND in self._items or not self._items.keys() & {"image", "build"}:
            self._note(
                "hostname", "is ignored: a service without an image has the name of its node", matters=True
            )
            return None
        return item

    def _restart(self) -> Located | None:
        item = self._items.get("restart")
        if item is not None and item.value != "no":
            says = "applies until the service is ready; if it ends later, the trial fails"
            self._note("restart", says)
        return item

    def _check(self) -> None:
        """Note or refuse keys that the model does not have."""
        self._check_capabilities()
        privileged = self._items.get("privileged")
        if privileged is not None and str(privileged.value).lower() == "true":
            self._wrong("privileged", "needs all privileges, but services have none; leave it out")
        runtime = self._items.get("runtime")
        if runtime is not None:
            if str(runtime.value) not in ("runc", "crun", "io.containerd.runc.v2"):
                self._wrong("runtime", f"{shown(runtime.value)} is not supported; leave the service out")
            else:
                self._note("runtime", "has no effect: no container engine runs the service")
        platform = self._items.get("platform")
        if platform is not None:
            if not str(platform.value).startswith("linux"):
                self._wrong("platform", f"{shown(platform.value)} is not Linux; leave the service out")
            else:
                self._note("platform", "is ignored: images run on this machine's CPU", matters=True)

    def _check_capabilities(self) -> None:
        for item in self._service.listed("cap_add"):
            name = str(item.value).upper().removeprefix("CAP_")
            if name in keys.SPARED_CAPABILITIES:
                self._context.note(
                    item.place, "cap_add", "is ignored: services have no capabilities", matters=True
                )
            else:
                message = (
                    f"cap_add {name} lets a service change the network or the kernel, which no service may; "
                    "leave it out"
                )
                self._context.problems.append(item.place.problem(f"services.{self._service.name}: {message}"))
