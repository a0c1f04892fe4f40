"""Print the oldest versions that pyproject.toml declares, as pip takes them; and write what an installed
crosswind says of itself, without its Rust programs, into a folder of packages.

`make floors` tests with them: python tests/floors.py, python tests/floors.py FOLDER.
"""

import sys
import tempfile
import tomllib
from pathlib import Path
from shutil import copytree

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print the versions, or write the description where a folder is given."""
    if len(sys.argv) == 1:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        print(*(dependency.replace(">=", "==") for dependency in project["dependencies"]))
        return
    from setuptools import build_meta

    packages = Path(sys.argv[1])  # setuptools writes its own words into sys.argv.
    with tempfile.TemporaryDirectory() as folder:
        name = build_meta.prepare_metadata_for_build_wheel(folder)
        copytree(Path(folder) / name, packages / name, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
