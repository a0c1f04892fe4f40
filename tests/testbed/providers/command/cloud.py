"""A cloud for tests: machines are files of a folder, named TAG.NAME. Usage: cloud.py FOLDER up|down|list"""

import json
import os
import sys
from pathlib import Path


def main() -> None:
    folder, verb = Path(sys.argv[1]), sys.argv[2]
    tag = os.environ.get("CROSSWIND_TAG", "")
    if verb == "up":
        names = os.environ["CROSSWIND_MACHINES"].split()
        for name in names:
            (folder / f"{tag}.{name}").write_text(os.environ["CROSSWIND_PUBLIC_KEY"])
        machines = [{"name": name, "address": f"{name}.example"} for name in names]
        print((folder / "printed").read_text() if (folder / "printed").exists() else json.dumps(machines))
    elif verb == "down":
        for path in folder.glob(f"{tag}.*"):
            path.unlink()
    else:
        found: dict[str, list[str]] = {}
        for path in sorted(folder.glob("crosswind-*.*")):
            made_for, _, name = path.name.partition(".")
            found.setdefault(made_for, []).append(name)
        print(json.dumps(found))


if __name__ == "__main__":
    main()
