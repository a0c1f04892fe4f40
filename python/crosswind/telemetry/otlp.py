"""OTLP/JSON: spans as OpenTelemetry writes them to a file, one line for each trace.

Source: opentelemetry.io/docs/specs/otlp (JSON Protobuf Encoding) and .../specs/otel/protocol/file-exporter.
Identifiers are hexadecimal, enumerations are numbers, and 64-bit integers are decimal text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from crosswind import __version__

# As the limits of OpenTelemetry's SDKs; what is left out is counted.
EVENTS_MAX = 128
_INTERNAL, _ERROR = 1, 2

Attributes = Mapping[str, str | bool | int | float]


@dataclass(frozen=True)
class SpanEvent:
    """Something that happened at an instant of a span."""

    at_ns: int
    name: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class TraceSpan:
    """A part of a trace.

    Attributes:
        trace: 16 bytes, the same for all spans of the trace.
        id: 8 bytes.
        parent: the id of the span around it.
        started_ns, ended_ns: since 1970.
        error: why it did not end well.
    """

    trace: bytes
    id: bytes
    name: str
    started_ns: int
    ended_ns: int
    parent: bytes | None = None
    attributes: Attributes = field(default_factory=dict)
    events: Sequence[SpanEvent] = ()
    error: str | None = None

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as a `TraceSpan` of opentelemetry.proto.trace.v1."""
        kept = sorted(self.events, key=lambda event: event.at_ns)[:EVENTS_MAX]
        left_out = len(self.events) - len(kept)
        return {
            "traceId": self.trace.hex(),
            "spanId": self.id.hex(),
            **({} if self.parent is None else {"parentSpanId": self.parent.hex()}),
            "name": self.name,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(self.started_ns),
            "endTimeUnixNano": str(self.ended_ns),
            "attributes": _attributes(self.attributes),
            "events": [
                {
                    "timeUnixNano": str(event.at_ns),
                    "name": event.name,
                    "attributes": _attributes(event.attributes),
                }
                for event in kept
            ],
            "droppedEventsCount": left_out,
            "status": {} if self.error is None else {"code": _ERROR, "message": self.error},
        }


def line_of(spans: Sequence[TraceSpan], resource: Attributes) -> str:
    """Return the spans of one trace as an `ExportTraceServiceRequest`, in one line."""
    request = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [
                    {
                        "scope": {"name": "crosswind", "version": __version__},
                        "spans": [span.as_json() for span in spans],
                    }
                ],
            }
        ]
    }
    return json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _attributes(attributes: Attributes) -> list[JsonValue]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: str | bool | int | float) -> dict[str, JsonValue]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
