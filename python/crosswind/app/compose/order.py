"""The order in which services start: each after its dependencies, otherwise as in the file."""

from __future__ import annotations

from collections.abc import Mapping

from crosswind.app.compose.service import Service


def start_order(services: Mapping[str, Service]) -> tuple[list[str], list[str]]:
    """Return the names of services in their order, and a cycle of dependencies; one of them is empty."""
    order: list[str] = []
    for name in services:
        circle = _visit(name, services, order, [])
        if circle:
            return [], circle
    return order, []


def _visit(name: str, services: Mapping[str, Service], order: list[str], way: list[str]) -> list[str]:
    if name in way:
        return [*way[way.index(name) :], name]
    if name in order or name not in services:
        return []
    for other in services[name].depends_on:
        circle = _visit(other, services, order, [*way, name])
        if circle:
            return circle
    order.append(name)
    return []
