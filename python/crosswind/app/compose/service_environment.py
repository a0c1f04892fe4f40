"""The environment of a service: `environment` and `env_file`."""

from __future__ import annotations

from crosswind.app.compose.dotenv import read_variables
from crosswind.app.compose.files import path_from
from crosswind.app.compose.located import Located
from crosswind.app.compose.merge import as_mapping
from crosswind.app.compose.mount import read_bool
from crosswind.app.compose.service_text import ServiceText
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError


def read_environment(service: ServiceText) -> Located | None:
    """Return the variables of the service that have a value; None where there are none."""
    found: dict[str, Located] = {}
    for item in _env_files(service):
        found |= _variables_of(service, item)
    written = service.items.get("environment")
    if written is not None:
        pairs = as_mapping(written)
        if not isinstance(pairs.value, dict):
            return written
        found |= pairs.value
    for name, item in list(found.items()):
        if item.value is not None:
            continue
        # A name alone takes the value of the variable with that name.
        if name in service.context.values:
            found[name] = item.with_value(service.context.values[name])
        else:
            says = "has no value and is left out; write it into .env beside the file"
            service.context.note(item.place, name, says, matters=True)
            del found[name]
    place = written or service.items.get("env_file")
    return place.with_value(found) if found and place is not None else None


def _env_files(service: ServiceText) -> list[Located]:
    written = service.items.get("env_file")
    return [] if written is None else (written.list or [written])


def _variables_of(service: ServiceText, item: Located) -> dict[str, Located]:
    asked = item.plain() if isinstance(item.value, dict) else {"path": item.value}
    written = asked.get("path")
    if not isinstance(written, str):
        raise QuantityError(f"has the env_file {shown(written)}, which is not a path")
    for key in asked.keys() - {"path", "required"}:
        raise QuantityError(f'has an env_file with "{key}", which is not supported; leave it out')
    path = path_from(item.place.file, written)
    try:
        content = service.context.files.content(path)
    except FileNotFoundError:
        if read_bool(asked.get("required", True)):
            raise QuantityError(
                f"has the env_file {shown(written)}, which does not exist; name one that does"
            ) from None
        service.context.note(item.place, "env_file", f"{shown(written)} does not exist and is left out")
        return {}
    except OSError as error:
        raise QuantityError(f"has the env_file {shown(written)}: {error.strerror}") from None
    try:
        found = read_variables(
            content, service.context.values, lambda name: service.context.unset(item.place, name)
        )
    except LineError as error:
        raise QuantityError(f"has the env_file {shown(written)}: {error}") from None
    return {name: item.with_value(value) for name, value in found.items()}
