"""Writes `postgres.lock`: the Debian packages that PostgreSQL 17, PostGIS and pgvector really load, with their digests.

    python tests/services/postgres_lock.py

Needs apt, dpkg-deb and readelf. The archive's signature is checked here; whoever prepares checks the digests only.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from postgres_server import LOCK, mirror

SUITE = "trixie"
ROOTS = ("postgresql-17", "postgresql-17-postgis-3", "postgresql-17-postgis-3-scripts", "postgresql-17-pgvector")
DATA = ("proj-data",)
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Not loaded with `jit = off` and without rasters and SFCGAL; they would bring 400 MiB.
_LEFT_OUT = re.compile(r"llvmjit|raster|sfcgal|address_standardizer|pgcrypto|plperl|plpython|pltcl|sslinfo|uuid-ossp")


def main() -> None:
    """Asks a private apt state, downloads everything, and keeps what the server's own files link to."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        here.chmod(0o755)
        apt = _apt(here)
        subprocess.run([*apt, "-qq", "update"], check=True)
        names = ["=".join(p) for p in _inst(_output([*apt, "-s", "--no-install-recommends", "install", *ROOTS, *DATA]))]
        subprocess.run([*apt, "-qq", "download", *names], check=True, cwd=here / "debs")
        shown = _output(["apt-cache", *apt[1:], "show", "--no-all-versions", *names])
        shown_facts = [
            dict(re.findall(r"^(Filename|SHA256|Size): (\S+)", entry, re.M)) for entry in shown.split("\n\n")
        ]
        by_name = {Path(f["Filename"]).name: f for f in shown_facts if f}
        kept = _loaded(here)
    pool = [by_name[re.sub(r"_\d+%3a", "_", name)] for name in kept]  # the pool's names have no epoch
    rows = sorted((f["Filename"], f["SHA256"]) for f in pool)
    LOCK.write_text("".join(f"{digest} {path}\n" for path, digest in rows), encoding="utf-8")
    print(f"{len(rows)} of {len(names)} packages")


def _apt(here: Path) -> list[str]:
    for folder in ("lists/partial", "archives/partial", "debs"):
        (here / folder).mkdir(parents=True)
    (here / "status").touch()
    (here / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {SUITE} main\n", encoding="utf-8")
    options = {
        "Dir::State": here,
        "Dir::State::status": here / "status",
        "Dir::Cache": here,
        "Dir::Etc::sourcelist": here / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "1",
    }
    return ["apt-get", *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]


def _inst(simulated: str) -> Iterator[tuple[str, str]]:
    yield from re.findall(r"^Inst (\S+) \((\S+) ", simulated, re.M)


def _loaded(here: Path) -> set[str]:
    """The archives that hold the roots, their data, and every library that these link to, directly or not."""
    owner: dict[str, tuple[str, Path]] = {}
    wanted: list[Path] = []
    kept: set[str] = set()
    for deb in sorted((here / "debs").iterdir()):
        tree = here / "trees" / deb.name
        tree.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "-x", deb, tree], check=True)
        for file in tree.rglob("*"):
            if file.is_file() and ".so" in file.name:
                owner.setdefault(file.name, (deb.name, file))
        if deb.name.split("_")[0] in (*ROOTS, *DATA):
            kept.add(deb.name)
            wanted += [f for f in tree.rglob("*") if f.is_file() and not f.is_symlink() and _ours(f)]
    return kept | _closure(wanted, owner)


def _ours(file: Path) -> bool:
    program = file.parent.name == "bin" and file.name in ("postgres", "initdb", "psql", "pg_ctl", "pg_dump")
    return program or (file.suffix == ".so" and not _LEFT_OUT.search(str(file)))


def _closure(wanted: list[Path], owner: Mapping[str, tuple[str, Path]]) -> set[str]:
    kept: set[str] = set()
    seen: set[str] = set()
    while wanted:
        for name in re.findall(r"\(NEEDED\).*\[(.+)\]", _output(["readelf", "-d", str(wanted.pop())])):
            if name not in seen:
                seen.add(name)
                deb, file = owner[name]
                kept.add(deb)
                wanted.append(file)
    return kept


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
