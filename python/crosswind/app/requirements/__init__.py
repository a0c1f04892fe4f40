"""What applications need from this machine, and how to install it without changing the system.

An application declares its requirements as data. What is missing, the commands that install it, the
installation and the versions for provenance follow from them. Everything is installed below the cache,
completely or not at all, and the account that applications run as can read it.
"""

from crosswind.app.requirements.debian import DebianPackages
from crosswind.app.requirements.go_program import GoProgram
from crosswind.app.requirements.maven_artifacts import MavenArtifacts
from crosswind.app.requirements.own_program import OwnProgram
from crosswind.app.requirements.patched_go_program import PatchedGoProgram
from crosswind.app.requirements.python_packages import PythonPackages
from crosswind.app.requirements.requirement import CannotInstall, NeededFile, Program, Requirement
from crosswind.app.requirements.wheel_program import WheelProgram

__all__ = [
    "CannotInstall",
    "DebianPackages",
    "GoProgram",
    "MavenArtifacts",
    "NeededFile",
    "OwnProgram",
    "PatchedGoProgram",
    "Program",
    "PythonPackages",
    "Requirement",
    "WheelProgram",
]
