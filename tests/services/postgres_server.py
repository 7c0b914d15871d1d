"""PostgreSQL 17 with PostGIS and pgvector as an ordinary process of an ordinary account: no root, container or mount.

    python tests/services/postgres_server.py prepare    downloads what postgres.lock names into the cache folder
    python tests/services/postgres_server.py serve      starts a fresh server, prints its DSN, stops with Control-C

The packages' own dynamic loader runs the programs, so that the machine's C library does not matter. A server belongs to
the process that started it: it stops with it, even if that is killed; what is left on disk the next start removes.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
LOCK = HERE / "postgres.lock"
MACHINE = "x86_64"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAMS = "usr/lib/postgresql/17/bin"
NOBODY = 65534
_PR_SET_PDEATHSIG = 1
_WAIT_S = 60
SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 100
shared_buffers = 256MB
maintenance_work_mem = 256MB
dynamic_shared_memory_type = mmap
fsync = off
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
"""


class NotPrepared(Exception):
    """The programs are not in the cache folder, or cannot run on this machine."""


def installation() -> Path:
    """Where this lock's programs lie, prepared or not."""
    cache = Path(os.environ.get("EXHIBIT_CACHE") or HERE.parents[1] / ".cache").resolve()
    return cache / f"postgres-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"


def prepare() -> Path:
    """Downloads, checks and unpacks every locked package; does nothing when that is done. Raises `NotPrepared`."""
    folder = installation()
    if (folder / ".complete").exists():
        return folder
    if platform.machine() != MACHINE or shutil.which("dpkg-deb") is None:
        raise NotPrepared(f"the lock is for {MACHINE} and needs dpkg-deb")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _unpack(folder)
            (folder / ".complete").touch()
    return folder


def _unpack(folder: Path) -> None:
    source = mirror()
    rows = [line.split() for line in LOCK.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(4) as pool:
        files = list(pool.map(lambda row: download(f"{source}/{row[1]}", row[0], Path(scratch)), rows))
        for file in files:
            subprocess.run(["dpkg-deb", "-x", file, folder], check=True)
    for control in (folder / "usr/share/postgresql/17/extension").glob("*-3.control"):
        control.with_name(control.name.replace("-3.control", ".control")).symlink_to(control.name)
    for name in ("doc", "man", "locale", "lintian", "bug"):
        shutil.rmtree(folder / "usr/share" / name, ignore_errors=True)
    for name in ("postgres", "initdb"):
        _wrap(folder / PROGRAMS / name)
    subprocess.run([folder / PROGRAMS / "postgres", "--version"], check=True, stdout=sys.stderr)


def mirror() -> str:
    """The Debian mirror that the environment or this machine's own apt sources name. Raises `NotPrepared`."""
    if given := os.environ.get("EXHIBIT_DEBIAN_MIRROR"):
        return given.rstrip("/")
    for file in [*sorted(Path("/etc/apt").glob("sources.list*/**/*")), Path("/etc/apt/sources.list")]:
        if file.is_file() and (found := re.search(r"https?://\S+/debian(?=/?(\s|$))", file.read_text("utf-8"))):
            return found.group().rstrip("/")
    raise NotPrepared("no Debian mirror in the apt sources; set EXHIBIT_DEBIAN_MIRROR")


def download(url: str, digest: str, scratch: Path) -> Path:
    try:
        with urllib.request.urlopen(url, timeout=120) as response:
            body: bytes = response.read()
    except OSError as error:
        raise NotPrepared(
            f"{url}: {error}; if the archive has moved on, run tests/services/postgres_lock.py"
        ) from error
    if hashlib.sha256(body).hexdigest() != digest:
        raise NotPrepared(f"{url} is not what postgres.lock names")
    file = scratch / url.rsplit("/", 1)[1]
    file.write_bytes(body)
    return file


def _wrap(program: Path) -> None:
    """Puts a script in the program's place that runs it by its own loader."""
    real = program.with_name(program.name + ".real")
    program.rename(real)
    program.write_text(
        "#!/bin/sh\n"
        f"top={program.parents[len(Path(PROGRAMS).parts)]}\n"
        f'lib="$top/{LIBRARIES}"\n'
        'exec "$lib/ld-linux-x86-64.so.2" --argv0 "$0" --library-path "$lib:$lib/blas:$lib/lapack" '
        f'"$top/{PROGRAMS}/{real.name}" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)


class Server:
    """A running server with an empty data folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._bin = folder / PROGRAMS
        self._top = folder
        self._home = Path(tempfile.mkdtemp(prefix="exhibit-postgres-"))
        self._data = self._home / "data"
        self._account = NOBODY if os.getuid() == 0 else None  # PostgreSQL refuses root
        self._password = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def dsn(self) -> str:
        """How to reach it, as its superuser."""
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The postmaster's process id. Raises RuntimeError when it is not running."""
        if self._process is None:
            raise RuntimeError("not running")
        return self._process.pid

    def initialise(self) -> None:
        """Makes the data folder."""
        (self._home / "owner.json").write_text(json.dumps({"pid": os.getpid(), "born": _born(os.getpid())}))
        password = self._home / "password"
        password.write_text(self._password)
        self._data.mkdir(mode=0o700)
        if self._account is not None:
            for path in (self._home, self._data, password):
                os.chown(path, self._account, self._account)
        locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8", "-E", "UTF8")
        login = ("-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}", "--no-sync")
        self._run(["initdb", "-D", str(self._data), *locale, *login]).wait(_WAIT_S)
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(SETTINGS)

    def encrypt(self, certificate: Path, key: Path) -> None:
        """From the next start on it speaks TLS alone, with this certificate."""
        for file in (certificate, key):
            inside = self._data / file.name
            shutil.copyfile(file, inside)
            inside.chmod(0o600)
            if self._account is not None:
                os.chown(inside, self._account, self._account)
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(f"ssl = on\nssl_cert_file = '{certificate.name}'\nssl_key_file = '{key.name}'\n")
        (self._data / "pg_hba.conf").write_text("hostssl all all all scram-sha-256\n", encoding="utf-8")

    def start(self) -> None:
        """Starts it and waits until it takes connections. Raises RuntimeError with the end of its log."""
        self._process = self._run(["postgres", "-D", str(self._data), "-p", str(self.port)])
        until = time.monotonic() + _WAIT_S
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > until:
                log = (self._home / "log").read_text("utf-8", errors="replace")
                self.kill()
                raise RuntimeError(f"the server did not start: {log[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Fast shutdown; kills it when that takes too long. Safe to call twice."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """`kill -9` of the postmaster and of what it started, as a crash."""
        if self._process is not None:
            self.send(signal.SIGKILL)
            self._process.wait(_WAIT_S)
            self._process = None

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to every process of the server: SIGSTOP pauses it, SIGCONT lets it go on."""
        for pid in (self.pid, *_children(self.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def remove(self) -> None:
        """Removes the data folder."""
        shutil.rmtree(self._home, ignore_errors=True)

    def _ready(self) -> bool:
        with contextlib.suppress(OSError, IndexError):
            return (self._data / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
        return False

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self._home),
            "PROJ_DATA": str(self._top / "usr/share/proj"),
        }
        account = {} if self._account is None else {"user": self._account, "group": self._account, "extra_groups": []}
        with (self._home / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self._bin / command[0]), *command[1:]],
                cwd=self._home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one system call, and no other thread yet
                **account,  # type: ignore[arg-type]
            )


def installed() -> Path:
    """Where the programs lie. Raises `NotPrepared`."""
    folder = installation()
    if not (folder / ".complete").exists():
        raise NotPrepared("run: python tests/services/postgres_server.py prepare")
    return folder


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A fresh server, stopped and removed at the end."""
    remove_leftovers()
    server = Server(folder)
    try:
        server.initialise()
        server.start()
        yield server
    finally:
        server.stop()
        server.remove()


def remove_leftovers() -> None:
    """Ends servers and removes folders whose owner is gone, however it went."""
    for home in Path(tempfile.gettempdir()).glob("exhibit-postgres-*"):
        try:
            owner = json.loads((home / "owner.json").read_text())
        except (OSError, ValueError):
            continue
        if _born(owner["pid"]) == owner["born"]:
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int((home / "data/postmaster.pid").read_text().splitlines()[0])
            if Path(f"/proc/{pid}/cwd").resolve() == home / "data":
                for one in (pid, *_children(pid)):
                    os.kill(one, signal.SIGKILL)
        shutil.rmtree(home, ignore_errors=True)


def _born(pid: int) -> str | None:
    """When a process started, in clock ticks since the machine did: a reused number is another process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(command: str) -> None:
    """The command line."""
    folder = prepare()
    if command == "serve":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with running(folder) as server, contextlib.suppress(KeyboardInterrupt):
            print(server.dsn, flush=True)
            signal.pause()
    else:
        print(folder)


if __name__ == "__main__":
    if sys.argv[1:] not in (["prepare"], ["serve"]):
        raise SystemExit(__doc__)
    try:
        main(sys.argv[1])
    except NotPrepared as error:
        print(error, file=sys.stderr)
        raise SystemExit(8) from error
