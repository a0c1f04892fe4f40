"""Check whether this machine can run Crosswind and how exact it is, and check experiments against that.

Nothing is installed, and no file is changed but the stored calibration.
"""

from crosswind.doctor.against import check_against, check_here
from crosswind.doctor.calibration import Calibration, stored_calibration
from crosswind.doctor.domains import auto_domains_here
from crosswind.doctor.machine import CalibratedMachine, this_machine
from crosswind.doctor.slower import Slower, slower_here

__all__ = [
    "CalibratedMachine",
    "Calibration",
    "Slower",
    "auto_domains_here",
    "check_against",
    "check_here",
    "slower_here",
    "stored_calibration",
    "this_machine",
]
