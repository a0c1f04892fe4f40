"""Table 1 of OSMeF as printed, and where the raw results of the study are."""

import math
import os
from pathlib import Path

SHARED = Path(__file__).parents[3] / "shared/data"
CONNECTIONS = Path(os.environ.get("CROSSWIND_OSMEF", SHARED / "osmef_connections.csv"))

# Of each folder, as printed: (a) BTC, RX and TX for one connection, average and deviation each; (b) the sum
# of BTC for thirty, then average and deviation of BTC, RX and TX.
TABLE_1 = {
    "localhost": ("2379.36 77.04 89.5 1 98 0.8", "22496.8 749.89 5.5 60.8 0.5 42 0.7"),
    "vm_localhost": ("2596.02 248.07 66 1.3 42 23.3", "4013.3 133.78 4.64 4.6 0.2 5.2 0.3"),
    "vm_host": ("1313.57 100.16 43.2 2.4 99 0", "1082.87 36.1 0.37 1 0 3 0"),
    "host_vm": ("1678.52 11.64 92.6 2.2 87.2 5.3", "1552.75 51.76 1.24 3 0 2 0"),
    "host_to_host": ("112.23 0 5.4 0.8 5.0 0", "112.33 3.74 1.55 0.6 0 0 0"),
    "host_to_host_gre": ("110.36 0 17.8 0.7 20.33 1.7", "110.4 3.68 1.90 1.4 1 0.2 0.6"),
    "vm_to_vm_1": ("1589.43 155.97 80.67 5.9 97.2 2", "1642.17 54.74 2.14 2.4 0.4 3 0.2"),
    "vm_to_vm_2": ("108.66 0.01 20.9 0.3 3.9 0.9", "110.7 3.69 0.16 0 0.2 0 0"),
    "vm_to_vm_3": ("89.37 0.74 20 0 3.5 0.8", "98 3.27 0.33 0.7 0.3 0 0"),
    "vm_to_vm_4": ("94.72 0.48 19 0 3.2 0.4", "95.74 3.19 0.13 0.7 0.3 0 0"),
}
# 1.2454 printed as 1.3, rounded twice; and 0.575 printed as 0.
MISPRINTED = {("vm_localhost", 1, 3), ("host_to_host", 30, 4)}


def cells_alike(scenario: str, connections: int, printed: str, found: list[float]) -> int:
    """Return how many cells are as printed; only the known misprints may not be."""
    same = 0
    for place, (text, value) in enumerate(zip(printed.split(), found, strict=True)):
        # BTC has two decimals, CPU none to two, and halves are rounded up; final zeros are not printed.
        as_printed = float(text) in (math.floor(value * unit + 0.5 + 1e-9) / unit for unit in (1, 10, 100))
        assert as_printed != ((scenario, connections, place) in MISPRINTED), (
            scenario,
            connections,
            place,
            value,
        )
        same += as_printed
    return same
