"""A tree of unpacked packages: made to work in its folder, without the scripts of the packages."""

import os
from pathlib import Path

_PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")
_LIBRARY_FOLDERS = ("usr/lib", "lib")


def program_folders(root: Path) -> list[Path]:
    """Return the folders in which packages put programs."""
    return [root / folder for folder in _PROGRAM_FOLDERS]


def library_path(root: Path) -> dict[str, str]:
    """Return the environment in which unpacked programs find their unpacked libraries.

    Libraries are files named `lib*.so.*`, as `ldconfig` would find them or an alternative would link to
    them, also in folders below that of the architecture, such as `blas` and `openmpi/lib`. Plug-ins have
    other names.
    """
    folders = {
        library.parent
        for below in _LIBRARY_FOLDERS
        for pattern in ("lib*.so.*", "*-linux-gnu*/**/lib*.so.*")
        for library in root.glob(f"{below}/{pattern}")
    }
    # The folder of the architecture first: an alternative must not hide the real library.
    ordered = sorted(folders, key=lambda folder: (len(folder.parts), folder))
    return {"LD_LIBRARY_PATH": ":".join(str(folder) for folder in ordered)} if ordered else {}


def make_links_relative(root: Path) -> None:
    """Make absolute links of packages, such as one to `/etc/maven`, point into the unpacked tree."""
    for folder, subfolders, files in os.walk(root):
        for name in (*subfolders, *files):
            link = Path(folder) / name
            if not link.is_symlink():
                continue
            target = link.readlink()
            inside = root / target.relative_to("/") if target.is_absolute() else None
            if inside is not None and (inside.exists() or inside.is_symlink()):
                link.unlink()
                link.symlink_to(os.path.relpath(inside, folder))
