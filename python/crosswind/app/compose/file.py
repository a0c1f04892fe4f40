"""Read a compose file with all files that it names: return its services, or all of its errors.

Source: the Compose Specification: interpolation, `include`, `extends`, profiles. All files are read through
`ComposeFiles`, so a run can be resumed from its results folder alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from crosswind.app.compose.dotenv import read_variables
from crosswind.app.compose.files import ComposeFiles, path_from
from crosswind.app.compose.interpolate import interpolated
from crosswind.app.compose.located import FilePlace, Located, document_of, located, problem_at
from crosswind.app.compose.merge import merged
from crosswind.app.compose.note import texts_of
from crosswind.app.compose.order import start_order
from crosswind.app.compose.service import Service, nodes_of
from crosswind.app.compose.service_text import Context
from crosswind.app.compose.services import ServiceReader
from crosswind.spec.base import SpecModel
from crosswind.spec.document import Document, Path, parse_document
from crosswind.spec.named_file import NamedFile
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError
from crosswind.spec.translate import describe, problems_of
from crosswind.text.nearest import did_you_mean

_ENV = ".env"
_TOP = ("services", "volumes", "networks", "secrets", "configs", "include", "version", "name", "models")
_VOLUME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Far more than people write by hand.
_INCLUDES_MAX = 20


class ComposeFile(SpecModel):
    """A compose file, as it runs.

    Attributes:
        services: those that take part, by name.
        files: that it names; `file` is relative to the experiment's folder.
        notes: on keys that are ignored or handled differently, for readers of the results.
        without_effect: notes on keys that make no difference to a test.
    """

    services: dict[str, Service] = Field(min_length=1)
    files: list[NamedFile[None]] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    without_effect: list[str] = Field(default_factory=list)


def read_compose(
    name: str,
    files: ComposeFiles,
    *,
    variables: Mapping[str, str],
    profiles: Collection[str] = (),
    wanted: Collection[str] = (),
) -> ComposeFile:
    """Return the content of a compose file.

    Args:
        name: its path, relative to the experiment's folder.
        variables: values of `${NAME}`, which override those of `.env`.
        profiles: the active ones.
        wanted: services that take part regardless of their profiles.

    Raises:
        OSError: the file cannot be read.
        SpecErrors: all errors in it, each with file, line and column.
    """
    return _Reader(files, variables, profiles, wanted).read(name)


def service_names(content: bytes, name: str) -> list[str]:
    """Return the names under `services` of a file, which may have errors elsewhere."""
    try:
        services = located(parse_document(content, name), name).items.get("services")
    except SpecErrors:
        return []
    return [] if services is None else list(services.items)


class _Reader:
    def __init__(
        self,
        files: ComposeFiles,
        variables: Mapping[str, str],
        profiles: Collection[str],
        wanted: Collection[str],
    ) -> None:
        self._files = files
        self._variables = variables
        self._profiles = profiles
        self._wanted = wanted
        self._problems: list[Problem] = []

    def read(self, name: str) -> ComposeFile:
        top = FilePlace(name, 1, 1)
        context = Context(Located({}, top, top), self._files, {}, "")
        context.problems = self._problems
        self._files.content(name)
        context.values = self._values(name, context)
        context.tree = self._tree(name, context, ())
        context.project = self._project(name, context.tree)
        services = self._services(context)
        if self._problems:
            raise SpecErrors(self._problems)
        self._check_top(context)
        read = {key: ServiceReader(key, item, context).read() for key, item in services.items()}
        of = context.tree.items.get("services", context.tree)
        document = document_of(context.tree.with_value({"services": of.with_value(read)}))
        file = self._model(document)
        if file is not None:
            self._problems += [
                document.problem(path, describe(path, message)) for path, message in _findings(file)
            ]
        if self._problems or file is None:
            raise SpecErrors(self._problems)
        present = {key: service for key, service in file.services.items() if service.replicas}
        for key in file.services.keys() - present.keys():
            context.note(read[key].key, key, "has no replicas and is left out", matters=True)
        return ComposeFile.model_construct(
            services=present,
            files=[named for named in self._files.named if named.file != name],
            notes=texts_of(note for note in context.notes if note.matters),
            without_effect=texts_of(note for note in context.notes if not note.matters),
        )

    def _model(self, document: Document) -> ComposeFile | None:
        models: dict[int, type[BaseModel]] = {}
        try:
            return TypeAdapter(ComposeFile).validate_python(document.data, context=models)
        except ValidationError as error:
            self._problems += problems_of(error, document, (), models)
            return None

    # --- one tree out of all files -------------------------------------------------------------------------

    def _tree(self, name: str, context: Context, way: tuple[str, ...]) -> Located:
        """Return a file with its variables replaced, and with the files that it includes.

        Args:
            way: the chain of files that include it.
        """
        content = self._files.content(name)
        tree = self._interpolated(located(parse_document(content, name), name), context)
        if not isinstance(tree.value, dict):
            raise SpecErrors(
                [tree.place.problem("is not a compose file: it has no mapping; write services: {...}")]
            )
        included = tree.items.get("include")
        for item in [] if included is None else included.list:
            try:
                for path in self._included(item):
                    if path in (*way, name) or len(way) > _INCLUDES_MAX:
                        raise QuantityError(f"{shown(path)} includes itself; break the cycle")
                    tree = self._with(tree, self._tree(path, context, (*way, name)), item)
            except QuantityError as error:
                self._problems.append(item.place.problem(f"include: {error}"))
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                self._problems.append(
                    item.place.problem(f"include: {shown(item.plain())} cannot be read: {reason}")
                )
        return tree

    def _included(self, item: Located) -> list[str]:
        written = item.plain() if isinstance(item.value, dict) else {"path": item.value}
        for key in written:
            if key != "path":
                raise QuantityError(f'has "{key}"; write only the path, and one .env beside the first file')
        paths = written.get("path")
        found = paths if isinstance(paths, list) else [paths]
        if not all(isinstance(path, str) for path in found):
            raise QuantityError(f"{shown(item.plain())} is not a path")
        return [path_from(item.place.file, str(path)) for path in found]

    def _with(self, tree: Located, other: Located, item: Located) -> Located:
        """Return a tree with the parts of an included one; parts that both have must be equal."""
        entries = dict(tree.items)
        for key in ("services", "volumes", "networks", "secrets", "configs"):
            own, more = entries.get(key), other.items.get(key)
            if more is None or not isinstance(more.value, dict):
                continue
            mine = {} if own is None else own.items
            for name, value in more.items.items():
                if name in mine and mine[name].plain() != value.plain():
                    raise QuantityError(
                        f"{shown(item.plain())} has a different {key[:-1]} {name}; rename one of them"
                    )
            entries[key] = (own or more).with_value({**more.items, **mine})
        return tree.with_value(entries)

    def _interpolated(self, tree: Located, context: Context) -> Located:
        def change(item: Located, path: Path) -> object:
            if not isinstance(item.value, str) or "$" not in item.value:
                return item.value
            try:
                return interpolated(item.value, context.values, lambda name: context.unset(item.place, name))
            except QuantityError as error:
                self._problems.append(problem_at(item, path, str(error)))
                return item.value

        return tree.mapped(change)

    def _values(self, name: str, context: Context) -> dict[str, str]:
        """Return the variables of the experiment and of the .env beside the file."""
        path = posixpath.join(posixpath.dirname(name), _ENV)
        try:
            content = self._files.content(path)
        except OSError:
            return dict(self._variables)
        place = FilePlace(path, 1, 1)
        try:
            found = read_variables(content, self._variables, lambda variable: context.unset(place, variable))
        except LineError as error:
            raise SpecErrors([place.problem(str(error))]) from None
        return {key: value for key, value in found.items() if value is not None} | dict(self._variables)

    def _project(self, name: str, tree: Located) -> str:
        """Return the name of the project, which is part of the names of images that it builds."""
        written = tree.items.get("name")
        text = str(written.value) if written is not None and written.value else ""
        text = text or posixpath.basename(posixpath.dirname(name)) or "compose"
        return re.sub(r"[^a-z0-9_-]", "", text.lower()).lstrip("_-") or "compose"

    # --- services ------------------------------------------------------------------------------------------

    def _services(self, context: Context) -> dict[str, Located]:
        """Return the services that take part, with their `extends` resolved."""
        written = context.tree.items.get("services")
        found: dict[str, Located] = {}
        if written is None or not written.items:
            place = context.tree.place if written is None else written.key
            message = "the file has no services; write services: {NAME: {image: IMAGE}}"
            self._problems.append(place.problem(message))
            return found
        for name, item in written.items.items():
            if name.startswith("x-"):
                continue
            if not isinstance(item.value, dict):
                message = (
                    f"services: {name} {shown(item.value)} must be a mapping; write lines of `key: value`"
                )
                self._problems.append(item.place.problem(message))
                continue
            service = self._extended(name, item, context, ())
            if self._takes_part(name, service):
                found[name] = service
            else:
                says = "has no active profile and is left out; name one under `profiles` of the experiment"
                context.note(item.key, name, says, matters=True)
        if not found and not self._problems:
            self._problems.append(
                written.key.problem("every service has a profile; name one under `profiles`")
            )
        return found

    def _takes_part(self, name: str, service: Located) -> bool:
        profiles = service.items.get("profiles")
        own = [] if profiles is None else [str(item.value) for item in profiles.list]
        return not own or name in self._wanted or any(each in self._profiles for each in own)

    def _extended(
        self, name: str, service: Located, context: Context, way: tuple[tuple[str, str], ...]
    ) -> Located:
        """Return a service with its `extends` resolved.

        Args:
            way: the chain of services that extend it: file and name.
        """
        extends = service.items.get("extends")
        if extends is None:
            return service
        own = service.with_value({key: item for key, item in service.items.items() if key != "extends"})
        asked = extends.plain() if isinstance(extends.value, dict) else {"service": extends.value}
        other, file = asked.get("service"), asked.get("file")
        try:
            path = extends.place.file if file is None else path_from(extends.place.file, str(file))
            step = (path, str(other))
            if step in way:
                raise QuantityError(
                    f"forms a cycle: {' -> '.join(each for _, each in (*way, step))}; break it"
                )
            tree = context.tree if file is None and not way else self._other(path, context)
            services = tree.items.get("services")
            base = None if services is None else services.items.get(str(other))
            if base is None or not isinstance(base.value, dict):
                known = [] if services is None else list(services.items)
                remedy = did_you_mean(str(other), known) or f"{path} has {', '.join(known) or 'none'}"
                raise QuantityError(f"names {shown(other)}, which is not a service there; {remedy}")
        except QuantityError as error:
            self._problems.append(extends.place.problem(f"services.{name}: extends {error}"))
            return own
        return merged(self._extended(name, base, context, (*way, step)), own)

    def _other(self, path: str, context: Context) -> Located:
        try:
            return self._tree(path, context, ())
        except OSError as error:
            raise QuantityError(f"the file {shown(path)}, which cannot be read: {error.strerror}") from None

    def _check_top(self, context: Context) -> None:
        for key, item in context.tree.items.items():
            if key.startswith("x-"):
                continue
            if key not in _TOP:
                remedy = did_you_mean(key, _TOP) or f"keys are {', '.join(_TOP)}"
                self._problems.append(item.key.problem(f'unknown key "{key}"; {remedy}'))
        if "version" in context.tree.items:
            context.note(context.tree.items["version"].key, "version", "has no effect: it is obsolete")
        volumes, networks = (context.tree.items.get(key) for key in ("volumes", "networks"))
        for name, item in {} if volumes is None else volumes.items.items():
            self._check_volume(name, item, context)
        for item in ({} if networks is None else networks.items).values():
            for key, option in item.items.items():
                says = "of a network has no effect: all nodes are in the network that the topology describes"
                context.note(option.key, key, says)

    def _check_volume(self, name: str, item: Located, context: Context) -> None:
        if not _VOLUME.fullmatch(name):
            message = f"volumes: {shown(name)} is not a name; use letters, digits, dots, hyphens, underscores"
            self._problems.append(item.key.problem(message))
        for key, option in item.items.items():
            if key == "driver_opts" and option.value:
                message = f"volumes.{name}: has driver_opts, which select a folder; bind that folder instead"
                self._problems.append(option.key.problem(message))
            elif key == "driver" and option.value not in (None, "local"):
                message = f"volumes.{name}: driver {shown(option.value)} is not supported; leave it out"
                self._problems.append(option.key.problem(message))
            elif key == "external" and str(option.value).lower() == "true":
                context.note(
                    option.key,
                    key,
                    "is ignored: a volume is empty at the start of a trial",
                    matters=True,
                )
            else:
                context.note(option.key, key, "of a volume has no effect")


def _findings(file: ComposeFile) -> Iterator[tuple[Path, str]]:
    nodes: dict[str, str] = {}
    for name, service in file.services.items():
        place = ("services", name)
        for other, dependency in service.depends_on.items():
            if other not in file.services:
                meant = did_you_mean(other, file.services) or f"services are {', '.join(file.services)}"
                yield (*place, "depends_on", other), f"is not a service that takes part; {meant}"
            elif dependency.condition == "service_completed_successfully" and other == name:
                yield (*place, "depends_on", other), "is the service itself"
        for node in nodes_of(name, service):
            if node in nodes:
                yield (
                    place,
                    f"has the node {node}, which is also that of {nodes[node]}; rename one of them",
                )
            nodes[node] = name
    circle = start_order(file.services)[1]
    if circle:
        yield ("services", circle[0], "depends_on"), f"forms a cycle: {' -> '.join(circle)}; break it"
