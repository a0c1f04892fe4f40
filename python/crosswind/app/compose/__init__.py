"""A user's compose file as an application: its services become nodes."""

from crosswind.app.compose.application import Compose
from crosswind.app.compose.parameters import ComposeParameters

__all__ = ["Compose", "ComposeParameters"]
