"""Read an Ansible inventory file, in whichever of its two formats it is."""

from __future__ import annotations

import re
from functools import lru_cache

from crosswind.spec.testbed.ansible import Inventory
from crosswind.spec.testbed.ansible_ini import read_ini
from crosswind.spec.testbed.ansible_yaml import read_yaml
from crosswind.spec.testbed.inventory import check_size
from crosswind.spec.text_lines import meant

# A line that opens a mapping. In INI a colon is followed by a port, or stands in a range.
_OPENS_YAML = re.compile(r"---.*|[{].*|[^\s\[\]=:]+:(?:\s.*)?")


@lru_cache(maxsize=4)  # Several rules read the same file.
def read_ansible(content: bytes) -> Inventory:
    """Return the inventory of a file.

    Raises: LineError: the first error, with its line.
    """
    check_size(content)
    first = next((line for _, line in meant(content)), "")
    return read_yaml(content) if _OPENS_YAML.fullmatch(first) else read_ini(content)
