"""The machine of a calibration, with which an experiment's machine is compared."""

from __future__ import annotations

import os
import platform

import psutil
from pydantic import BaseModel, ConfigDict

from crosswind.machine.provenance import cpu_model


class CalibratedMachine(BaseModel):
    """What a calibration depends on; another kernel on the same CPU is another machine."""

    model_config = ConfigDict(frozen=True)

    kernel: str
    cpu: str
    cores: int  # That this process may use, at least 1.
    memory_bytes: int

    def differences(self, other: CalibratedMachine) -> list[str]:
        """Return the differences that affect timing; memory is not one of them."""
        return [
            f"{name} was {was}, is {found}"
            for name, was, found in (
                ("kernel", self.kernel, other.kernel),
                ("CPU", self.cpu, other.cpu),
                ("cores", self.cores, other.cores),
            )
            if was != found
        ]


def this_machine() -> CalibratedMachine:
    """Return the machine that this process runs on."""
    return CalibratedMachine(
        kernel=platform.release(),
        cpu=cpu_model(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
    )
