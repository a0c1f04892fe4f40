"""A user's compose file as an application: services become nodes."""

from crosswind.app.compose.application import Compose
from crosswind.app.compose.parameters import ComposeParameters

__all__ = ["Compose", "ComposeParameters"]
