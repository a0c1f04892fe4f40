"""docs/reference/schema: the JSON Schemas, with their version in the name."""

from __future__ import annotations

import json
from typing import Any

from crosswind.spec.schema import condition_schema, experiment_schema


def files() -> dict[str, str]:
    """Return the text of both schemas by path."""
    return {
        f"schema/{kind}-v{schema['version']}.json": _text(schema)
        for kind, schema in (("experiment", experiment_schema()), ("condition", condition_schema()))
    }


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
