"""The files of the native PostgreSQL recipe as the context of a container image.

python tests/services/postgres_image.py FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from postgres_server import PROGRAMS, download, mirror, prepare

HERE = Path(__file__).with_name("postgres-image")
MERGED = ("bin", "sbin", "lib", "lib64")
ACCOUNTS = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"


def context(folder: Path) -> None:
    """Writes `Containerfile` and the root of the image to an empty folder."""
    root = folder / "root"
    shutil.copytree(prepare(), root, symlinks=True)
    for program in (root / PROGRAMS).glob("*.real"):  # in the image the packages' loader is the system's
        program.replace(program.with_suffix(""))
    _unpack(root)
    for name in MERGED:
        (root / "usr" / name).mkdir(exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in ("tmp", "run", "var/lib/postgresql/data"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text(ACCOUNTS, encoding="utf-8")
    shutil.copy2(HERE / "entry.sh", root)
    (root / "entry.sh").chmod(0o755)
    shutil.copy2(HERE / "Containerfile", folder)


def _unpack(root: Path) -> None:
    rows = [line.split() for line in (HERE / "packages.lock").read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        for digest, path in rows:
            file = download(f"{mirror()}/{path}", digest, Path(scratch))
            subprocess.run(["dpkg-deb", "-x", file, root], check=True)
    busybox = root / "usr/bin/busybox"
    for name in subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True).stdout.split():
        link = root / "usr/bin" / name
        if not link.exists():
            link.symlink_to("busybox")


if __name__ == "__main__":
    context(Path(sys.argv[1]))
