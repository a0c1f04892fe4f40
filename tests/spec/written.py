"""Write what the agent takes as a file of conditions would say it: the way back, by descriptions."""

from collections.abc import Mapping
from typing import Any

from crosswind.spec.description import (
    Alternative,
    Choice,
    Default,
    Description,
    Flag,
    Group,
    Listed,
    Named,
    Parameter,
    Quantity,
    Type,
    Words,
)
from crosswind.spec.parameters.match import PROTOCOL_NUMBERS

_UNITS = {"rate": "bit/s", "size": "B", "bits": "bit", "duration": "ns"}


class NotWritableError(Exception):
    """Only a file beside the condition could say it, or nothing at all."""


def written(description: Description, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mapping that is resolved to `sent`, without scaling.

    Raises: NotWritableError: the element could only be written with a file of its own.
    """
    return _mapping(description.group, sent)


def sent_as_resolved(group: Group, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is sent without what means the same where it is absent, as resolving leaves that out."""
    found: dict[str, Any] = {}
    for name, value in sent.items():
        parameter = next((each for each in group.parameters if each.name == name), None)
        presence = None if parameter is None else parameter.presence
        if isinstance(presence, Default) and not presence.sent and value == presence.value:
            continue
        match None if parameter is None else parameter.type:
            case Group() as inside:
                found[name] = sent_as_resolved(inside, value)
            case Listed(of=Group() as inside):
                found[name] = [sent_as_resolved(inside, item) for item in value]
            case _:
                found[name] = value
    return found


def _mapping(group: Group, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for parameter in group.parameters:
        if isinstance(parameter.type, Named):
            found |= _COMPOUNDS[parameter.type.name](parameter, sent)
        elif parameter.name in sent and parameter.key is None:
            assert isinstance(parameter.type, Choice)
            found |= _choice(parameter.type, sent[parameter.name])
        elif parameter.name in sent:
            found[str(parameter.key)] = _value(parameter.type, sent[parameter.name])
    return found


def _value(of: Type, sent: Any) -> Any:
    match of:
        case Quantity():
            return _quantity(of, sent)
        case Flag() | Words():
            return sent
        case Listed():
            return [_value(of.of, item) for item in sent]
        case Group():
            return _mapping(of, sent)
        case Choice():
            return sent if isinstance(sent, str) else _choice(of, sent)
    raise NotWritableError


def _quantity(of: Quantity, sent: Any) -> Any:
    if sent is None:
        return "unlimited"
    match of.quantity:
        case "share":
            return _share(sent)
        case "dscp" | "count":
            return sent
        case "number":
            return sent / of.times
    return f"{sent}{_UNITS[of.quantity]}"


def _share(ppb: int) -> str:
    return f"{ppb // 10**7}.{ppb % 10**7:07}%"


def _choice(choice: Choice, sent: Mapping[str, Any]) -> dict[str, Any]:
    ((word, inside),) = sent.items()
    alternative: Alternative = next(each for each in choice.alternatives if each.word == word)
    mapping = _mapping(alternative.group, inside)
    return {word: next(iter(mapping.values())) if alternative.bare else mapping}


def _buffer(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    assert isinstance(parameter.type, Named)
    rate = parameter.type.arguments.get("rate")
    if f"{parameter.name}_ns" in sent and sent.get(f"{rate}_bps", 0) is None:
        raise NotWritableError  # What an unlimited rate sends in a time has no end.
    for end, unit in (("bytes", "B"), ("packets", "packets"), ("ns", "ns")):
        name = f"{parameter.name}_{end}"
        if name in sent:
            return {str(parameter.key): "unlimited" if sent[name] is None else f"{sent[name]}{unit}"}
    return {}


def _colour_action(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    if parameter.name not in sent:
        return {}
    action = sent[parameter.name]
    return {str(parameter.key): action if isinstance(action, str) else action["dscp"]}


def _dscps(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    dscps = sent[parameter.name]
    return {str(parameter.key): "default" if dscps is None else dscps}


def _match(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    return {str(parameter.key): _packets(sent.get(parameter.name, {}))}


def _packets(sent: Mapping[str, Any]) -> dict[str, Any]:
    found = {key.replace("_", " "): value for key, value in sent.items() if value is not None}
    if "protocol" in found:
        found["protocol"] = next(name for name, of in PROTOCOL_NUMBERS.items() if of == found["protocol"])
    return found


def _start(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    match sent.get(parameter.name, {"after_ns": 0}):
        case {"packet": packets}:
            return {str(parameter.key): _packets(packets)}
        case {"after_ns": 0}:
            return {}
        case {"after_ns": after_ns}:
            return {str(parameter.key): f"{after_ns}ns"}
    raise NotWritableError


def _losses(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    return {"pattern": sent[parameter.name]}


def _variation(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    random = sent.get(parameter.name)
    if random is None:
        return {}
    found = {"depth": "exact" if random["depth"] is None else random["depth"], "order": random["order"]}
    if found["depth"] == 1:
        raise NotWritableError
    if random["half_life_ns"] is not None:
        found["half_life"] = f"{random['half_life_ns']}ns"
    return found | _law(random["law"])


def _law(law: Mapping[str, Any]) -> dict[str, Any]:
    ((word, inside),) = law.items()
    if word == "lognormal":
        shape: Any = {"lognormal": {"sigma": inside["sigma_ppm"] / 10**6}}
        if inside["sigma_ppm"] > 4 * 10**6:
            raise NotWritableError
    elif word == "samples":
        # Of those that are scaled, some are below zero, and nobody writes them.
        if min(inside["samples_ns"]) < 0:
            raise NotWritableError
        return {"law": {"samples": [f"{sample}ns" for sample in inside["samples_ns"]]}}
    elif word == "histogram":
        if any(each["low_ns"] < 0 for each in inside["bins"]):
            raise NotWritableError
        bins = [
            {"low": f"{each['low_ns']}ns", "high": f"{each['high_ns']}ns", "count": each["count"]}
            for each in inside["bins"]
        ]
        return {"law": {"histogram": bins}}
    else:
        shape = word.replace("_", "-")
    return {"law": shape, "jitter": f"{inside['jitter_ns']}ns"}


def _process(parameter: Parameter, sent: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, inside),) = sent[parameter.name].items()
    match kind:
        case "levels":
            repeat_ns = inside["repeat_ns"]
            return _steps(inside) | ({} if repeat_ns is None else {"repeat": f"{repeat_ns}ns"})
        case "resampled" if inside["period_ns"] is not None:
            times = {"repeat": f"{inside['period_ns']}ns", "resample": f"{inside['block_ns']}ns"}
            return _steps(inside) | times
        case "markov":
            return {"markov": _states(inside["states"]), "hold": f"{inside['hold_ns']}ns"}
    raise NotWritableError


def _steps(inside: Mapping[str, Any]) -> dict[str, Any]:
    if len(set(inside["at_ns"])) < len(inside["at_ns"]):  # A file says once what holds from an instant on.
        raise NotWritableError
    rates = ["unlimited" if rate is None else f"{rate}bit/s" for rate in inside["rate_bps"]]
    return {"steps": {f"{at_ns}ns": rate for at_ns, rate in zip(inside["at_ns"], rates, strict=True)}}


def _states(states: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        f"s{number}": {
            "rate": "unlimited" if state["rate_bps"] is None else f"{state['rate_bps']}bit/s",
            "to": {
                f"s{other}": _share(ppb)
                for other, ppb in enumerate(state["next_ppb"])
                if other != number and ppb
            },
        }
        for number, state in enumerate(states)
    }


_COMPOUNDS = {
    "buffer": _buffer,
    "colour-action": _colour_action,
    "dscps": _dscps,
    "losses": _losses,
    "match": _match,
    "process": _process,
    "start": _start,
    "variation": _variation,
}
