"""Convert a service to the form that its model reads: each key is used, noted or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from crosswind.app.compose import keys
from crosswind.app.compose.build import read_build
from crosswind.app.compose.dotenv import read_variables
from crosswind.app.compose.files import ComposeFiles, path_from
from crosswind.app.compose.located import FilePlace, Located, problem_at
from crosswind.app.compose.merge import as_mapping
from crosswind.app.compose.mount import Mount, read_bool, read_file_mount, read_mount, read_tmpfs
from crosswind.app.compose.note import ComposeNote
from crosswind.app.compose.service import node_name
from crosswind.app.compose.words import read_whole
from crosswind.spec.document import Path
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError
from crosswind.text.nearest import did_you_mean

X_CROSSWIND = "x-crosswind"
DEFAULT_NETWORK = "default"
_REPLICAS_MAX = 100
_PORT = re.compile(
    r"(?:[0-9.]+:|\[[0-9a-fA-F:]+\]:)?(?:[0-9-]*:)?(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?(?:/(?P<protocol>tcp|udp))?"
)
_HOSTNAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?")
# Keys of an image that have no meaning for a program that runs instead of it.
_OF_IMAGES = ("image", "build", "command", "entrypoint", "user", "working_dir")
_FILES = ("volumes", "tmpfs", "secrets", "configs")
# Keys that the model has under other names, or not at all.
_TAKEN = {
    "cap_add", "container_name", "env_file", "expose", "extends", "links", "network_mode", "platform",
    "privileged", "profiles", "runtime", "scale", *_FILES,
}  # fmt: skip


@dataclass
class Context:
    """The context in which a service is read, and the notes and problems that are found.

    Attributes:
        tree: the whole file.
        values: the variables of the file.
        project: name of the project, which is part of the names of built images.
    """

    tree: Located
    files: ComposeFiles
    values: dict[str, str]
    project: str
    notes: list[ComposeNote] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, place: FilePlace, key: str, says: str, *, matters: bool = False) -> None:
        """Add a note."""
        self.notes.append(ComposeNote(place, key, says, matters))

    def unset(self, place: FilePlace, name: str) -> None:
        """Add the note that a variable has no value."""
        says = "has no value and becomes an empty text; write it into .env beside the file"
        self.note(place, f"${{{name}}}", says, matters=True)


class ServiceReader:
    """Reads one service.

    Args:
        name: of the service.
        written: its content in the file.
    """

    def __init__(self, name: str, written: Located, context: Context) -> None:
        self._name = name
        self._written = written
        self._items = {key: item for key, item in written.items.items() if not _is_extension(key)}
        self._context = context
        self._path: Path = ("services", name)

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
            ("environment", self._environment),
            ("networks", self._networks),
            ("ports", self._ports),
            ("mounts", self._mounts),
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
            found["image"] = self._items["build"].made(f"{self._context.project}-{self._name}")
        self._check()
        return self._written.with_value({key: item for key, item in found.items() if key not in _TAKEN})

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
                item.key.problem(f'services.{self._name}: unknown key "{key}"; {remedy}')
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

    def _environment(self) -> Located | None:
        found: dict[str, Located] = {}
        for item in self._env_files():
            found |= self._variables_of(item)
        written = self._items.get("environment")
        if written is not None:
            pairs = as_mapping(written)
            if not isinstance(pairs.value, dict):
                return written
            found |= pairs.value
        for name, item in list(found.items()):
            if item.value is not None:
                continue
            # A name alone takes the value of the variable with that name.
            if name in self._context.values:
                found[name] = item.with_value(self._context.values[name])
            else:
                says = "has no value and is left out; write it into .env beside the file"
                self._context.note(item.place, name, says, matters=True)
                del found[name]
        place = written or self._items.get("env_file")
        return place.with_value(found) if found and place is not None else None

    def _env_files(self) -> list[Located]:
        written = self._items.get("env_file")
        return [] if written is None else (written.list or [written])

    def _variables_of(self, item: Located) -> dict[str, Located]:
        asked = item.plain() if isinstance(item.value, dict) else {"path": item.value}
        written = asked.get("path")
        if not isinstance(written, str):
            raise QuantityError(f"has the env_file {shown(written)}, which is not a path")
        for key in asked.keys() - {"path", "required"}:
            raise QuantityError(f'has an env_file with "{key}", which is not supported; leave it out')
        path = path_from(item.place.file, written)
        try:
            content = self._context.files.content(path)
        except FileNotFoundError:
            if read_bool(asked.get("required", True)):
                raise QuantityError(
                    f"has the env_file {shown(written)}, which does not exist; name one that does"
                ) from None
            self._context.note(item.place, "env_file", f"{shown(written)} does not exist and is left out")
            return {}
        except OSError as error:
            raise QuantityError(f"has the env_file {shown(written)}: {error.strerror}") from None
        try:
            found = read_variables(
                content, self._context.values, lambda name: self._context.unset(item.place, name)
            )
        except LineError as error:
            raise QuantityError(f"has the env_file {shown(written)}: {error}") from None
        return {name: item.with_value(value) for name, value in found.items()}

    def _networks(self) -> Located:
        """Return the names of the service in each of its networks, and note how networks are used."""
        mode, written = self._items.get("network_mode"), self._items.get("networks")
        names = [str(item.value) for key in ("container_name",) if (item := self._items.get(key)) is not None]
        if mode is not None:
            self._check_mode(mode)
        if written is None or not written.value:
            return self._written.made({DEFAULT_NETWORK: names})
        found: dict[str, list[str]] = {}
        defined = self._context.tree.items.get("networks")
        for name, item in as_mapping(written, names=True).items.items():
            if name != DEFAULT_NETWORK and (defined is None or name not in defined.items):
                raise QuantityError(
                    f"has {shown(name)}, which is not a network of the file; add networks: {{{name}: }}"
                )
            found[name] = [*names, *self._aliases(name, item)]
        if found.keys() != {DEFAULT_NETWORK}:
            self._note(
                "networks",
                "decide which names a service with an image resolves; every address can be reached",
                matters=True,
            )
        return written.made(found)

    def _aliases(self, network: str, item: Located) -> list[str]:
        for key, value in item.items.items():
            if key in ("ipv4_address", "ipv6_address"):
                self._check_address(str(value.value), value)
            elif key not in (
                "aliases",
                "priority",
                "gw_priority",
                "interface_name",
                "mac_address",
                "link_local_ips",
                "driver_opts",
            ):
                raise QuantityError(
                    f'has "{key}" for {network}, which is not a key of a network; leave it out'
                )
        aliases = item.items.get("aliases")
        return [] if aliases is None else [str(alias.value) for alias in aliases.list]

    def _check_address(self, address: str, item: Located) -> None:
        """Refuse a fixed address of the service that other parts of the file use."""
        for other in _texts(self._context.tree):
            if other.place != item.place and re.search(
                rf"(?<![0-9.]){re.escape(address)}(?![0-9.])", other.value
            ):
                raise QuantityError(
                    f"has the address {address}, which line {other.place.line} uses, but Crosswind "
                    f"assigns addresses to nodes; write the name {node_name(self._name)} there, and leave "
                    "the address out"
                )
        self._context.note(
            item.key, "ipv4_address", "is ignored: Crosswind assigns addresses to nodes", matters=True
        )

    def _check_mode(self, mode: Located) -> None:
        text = str(mode.value)
        if text.startswith(("service:", "container:")) or text == "none":
            what = "means no network" if text == "none" else "shares the network of another service"
            raise QuantityError(
                f"{what} ({shown(text)}), but every node has a network of its own; leave it out"
            )
        if text == "host":
            self._note("network_mode", "is ignored: the service has its own node", matters=True)
        else:
            self._note("network_mode", "has no effect: the service has its own node")

    def _ports(self) -> Located | None:
        found: list[str] = []
        place = self._items.get("ports") or self._items.get("expose")
        for key in ("ports", "expose"):
            item = self._items.get(key)
            if item is None:
                continue
            if not isinstance(item.value, list):
                raise QuantityError(f"{shown(item.value)} must be a list; write such as [80]")
            found += [port for entry in item.value for port in _ports_of(entry)]
            self._note(key, keys.PORTS)
        return place.made(list(dict.fromkeys(found))) if place is not None else None

    def _mounts(self) -> Located | None:
        found: list[Mount] = []
        for item in self._listed("volumes"):
            mount = self._at(item, read_mount)
            if mount is not None:
                found.append(self._bound(item, mount))
        written = self._items.get("tmpfs")
        for item in [] if written is None else (written.list or [written]):
            mount = self._at(item, read_tmpfs)
            found += [] if mount is None else [mount]
            says = "is a folder on disk, empty at the start of a trial, without options"
            self._context.note(item.place, "tmpfs", says, matters=True)
        for kind in ("secret", "config"):
            defined = self._context.tree.items.get(f"{kind}s")
            for item in self._listed(f"{kind}s"):
                for key in item.items.keys() & {"uid", "gid", "mode"}:
                    says = f"of a {kind} is ignored: every process of the service may read it"
                    self._context.note(item.items[key].key, key, says)
                read = partial(
                    read_file_mount,
                    kind=kind,
                    defined=defined,
                    files=self._context.files,
                    values=self._context.values,
                )
                file = self._at(item, read)
                found += [] if file is None else [file]
        return self._written.made([mount.model_dump() for mount in found]) if found else None

    def _listed(self, key: str) -> list[Located]:
        item = self._items.get(key)
        if item is None or item.value is None:
            return []
        if not isinstance(item.value, list):
            self._wrong(key, f"{shown(item.value)} must be a list")
        return item.list

    def _at(self, item: Located, read: Callable[[Located], Mount]) -> Mount | None:
        """Return the mount of an item; None where it has none, after a problem was added at its place."""
        try:
            return read(item)
        except QuantityError as error:
            self._context.problems.append(item.place.problem(f"services.{self._name}: {error}"))
            return None

    def _bound(self, item: Located, mount: Mount) -> Mount:
        """Return a mount after checking its source, with a note if the service sees something different."""
        context = self._context
        if mount.kind == "volume":
            defined = context.tree.items.get("volumes")
            if defined is None or mount.source not in defined.items:
                message = (
                    f"{shown(mount.source)} is not a volume of the file; add volumes: {{{mount.source}: }}"
                )
                context.problems.append(item.place.problem(f"services.{self._name}: {message}"))
        elif mount.kind == "host" and not mount.read_only:
            says = "is copied for each trial; changes are lost after it"
            context.note(item.place, mount.source, says, matters=True)
        elif mount.kind == "bind":
            try:
                found = context.files.folder(mount.source)
            except QuantityError as error:
                context.problems.append(item.place.problem(f"services.{self._name}: {error}"))
                return mount
            if not found:
                context.note(
                    item.place, mount.source, "has no files; the service sees an empty folder", matters=True
                )
            elif not mount.read_only:
                says = "is copied for each trial; changes are lost after it"
                context.note(item.place, mount.source, says)
        return mount

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
        entries = {key: item for key, item in written.value.items() if not _is_extension(key)}
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
            elif key not in ("replicas", "resources") and not _is_extension(key):
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
            first = node_name(self._name)
            says = (
                f"makes the nodes {first} to {first}-{count}; in a service with an image, {self._name} means "
                "all of them, in others the first"
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
        for item in self._listed("links"):
            found.setdefault(str(item.value).partition(":")[0], item.made({}))
        return (dependencies or self._written).with_value(found) if found else None

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
        if item is None or str(item.value) == node_name(self._name):
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
        for item in self._listed("cap_add"):
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
                self._context.problems.append(item.place.problem(f"services.{self._name}: {message}"))

    def _note(self, key: str, says: str, *, matters: bool = False) -> None:
        self._context.note(self._items[key].key, key, says, matters=matters)

    def _wrong(self, key: str, message: str) -> None:
        item = self._items.get(key, self._written)
        self._context.problems.append(problem_at(item, (*self._path, key), message, at_key=True))


def _is_extension(key: str) -> bool:
    return key.startswith("x-") and key != X_CROSSWIND


def _texts(item: Located) -> Iterator[Located]:
    """Yield every text below a value."""
    if isinstance(item.value, str):
        yield item
    for entry in (*item.items.values(), *item.list):
        yield from _texts(entry)


def _ports_of(item: Located) -> list[str]:
    """Return the ports inside the service that an entry of `ports` or `expose` names, such as `80/tcp`."""
    if isinstance(item.value, dict):
        values = item.plain()
        text = f"{values.get('target')}/{values.get('protocol', 'tcp')}"
    else:
        text = str(item.value)
    match = _PORT.fullmatch(text)
    if match is None or isinstance(item.value, bool):
        raise QuantityError(f'{shown(text)} is not a port; write such as "8080:80"')
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not 1 <= first <= last <= 65535:
        raise QuantityError(f"{shown(text)} is outside 1 to 65535")
    return [f"{port}/{match['protocol'] or 'tcp'}" for port in range(first, min(last, first + 99) + 1)]
