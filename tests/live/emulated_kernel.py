"""A Debian kernel under emulation, with this machine's files: for what the kernel here lacks.

QEMU emulates the CPU, so nothing of the machine is needed but time: a boot takes about a minute. The guest
sees the root of this machine's file system read-only over 9p, its own /tmp and /run, and the
modules of its kernel. The kernel and a static busybox come from Debian's mirror, into a folder that is kept.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from crosswind.testbed.folders import cache_folder

_MODULES = "virtio_pci 9pnet_virtio 9p"
_INIT = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
for module in MODULES; do modprobe $module; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host
for part in tmp run; do mount -t tmpfs tmpfs /host/$part; done
mount -t proc proc /host/proc
mount -t sysfs sysfs /host/sys
mount -t devtmpfs devtmpfs /host/dev
mkdir -p /host/run/modules
mount -t 9p -o trans=virtio,version=9p2000.L,ro modules /host/run/modules
cp /bin/busybox /guest.sh /host/run/
exec switch_root /host /bin/sh /run/guest.sh
"""
# Mounts of nodes are seen from the root of their namespace, so that has to be this machine's.
_GUEST = r"""for module in WANTED; do /sbin/modprobe -d /run/modules $module; done
(COMMAND)
echo "emulated-kernel: status $?"
/run/busybox poweroff -f
"""


class NoEmulatedKernel(Exception):
    """Something that it takes is not here; the text says what."""


def run_in_emulated_kernel(command: str, modules: tuple[str, ...], timeout_s: float) -> tuple[int, str]:
    """Run a shell command in the guest, as root; return its status and what the console showed.

    Raises: NoEmulatedKernel: QEMU is missing, or the packages cannot be had.
    """
    if shutil.which("qemu-system-x86_64") is None:
        raise NoEmulatedKernel("qemu-system-x86_64: not on this machine; sudo apt install qemu-system-x86")
    folder = _unpacked()
    (kernel,) = (folder / "boot").glob("vmlinuz-*")
    initrd = _initrd(folder, command, modules)
    done = subprocess.run(
        [
            *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "1024", "-nographic", "-no-reboot"),
            *("-kernel", kernel, "-initrd", initrd, "-append", "console=ttyS0 panic=-1 quiet"),
            *("-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"),
            *("-virtfs", f"local,path={folder},mount_tag=modules,security_model=none,readonly=on"),
            *("-nic", "none"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )
    shown = done.stdout.replace("\r", "")
    _, found, status = shown.rpartition("emulated-kernel: status ")
    return (int(status.split()[0]) if found else -1), shown


def _unpacked() -> Path:
    """Return the folder with the kernel, its modules and busybox; get them where they are not there yet."""
    folder = cache_folder() / "emulated-kernel"
    if (folder / "done").is_file():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    depends = _output(folder, "apt-cache", "depends", "linux-image-amd64")
    (image,) = [line.split()[-1] for line in depends.splitlines() if "Depends: linux-image-" in line][:1]
    _output(folder, "apt-get", "download", "-qq", image, "busybox-static")
    for package in folder.glob("*.deb"):
        _output(folder, "dpkg-deb", "-x", package.name, ".")
        package.unlink()
    (release,) = (path.name for path in (folder / "lib/modules").iterdir())
    _output(folder, "depmod", "-b", str(folder), release)
    (folder / "done").touch()
    return folder


def _output(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoEmulatedKernel(f"{words[0]}: {error}") from error
    if done.returncode:
        raise NoEmulatedKernel(f"{shlex.join(words)}: {done.stderr.strip()[-200:]}")
    return done.stdout


def _initrd(folder: Path, command: str, modules: tuple[str, ...]) -> Path:
    """Make the guest's first file system: busybox, the modules to reach this machine's, and the script."""
    root = folder / f"initrd-{os.getpid()}"
    shutil.rmtree(root, ignore_errors=True)
    for part in ("bin", "proc", "sys", "dev", "host", "lib"):
        (root / part).mkdir(parents=True)
    shutil.copy2(folder / "bin/busybox", root / "bin/busybox")
    (release,) = (folder / "lib/modules").iterdir()
    show = ("modprobe", "-d", str(folder), "-S", release.name, "--show-depends")
    needed = [line for module in _MODULES.split() for line in _output(folder, *show, module).splitlines()]
    for line in needed:
        if line.startswith("insmod "):
            file = Path(line.split()[1])
            copy = root / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
    for name in ("modules.dep", "modules.alias", "modules.symbols", "modules.builtin", "modules.order"):
        shutil.copy2(release / name, root / "lib/modules" / release.name / name)
    (root / "init").write_text(_INIT.replace("MODULES", _MODULES))
    (root / "init").chmod(0o755)
    (root / "guest.sh").write_text(_GUEST.replace("WANTED", " ".join(modules)).replace("COMMAND", command))
    made = folder / f"initrd-{os.getpid()}.cpio"
    with made.open("wb") as out:
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        subprocess.run(
            [str(folder / "bin/busybox"), "cpio", "-o", "-H", "newc"],
            cwd=root, input=names.encode(), stdout=out, stderr=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    shutil.rmtree(root)
    return made
