"""What can be done to a home and to what auditors took from it, and the step that names it: every part of every kind of
entry, every leaf, and every file of the log, its keys, its index, receipts, exports, packages and saved answers.

Tree, checkpoints, cosignatures, columns and triggers are in tests/unit/test_ledger_tamperings.py.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from ledger.errors import VerificationFailed
from ledger.model import PART_NAMES, SOURCES, Kind
from tests.api_world import TEXTS
from tests.tampered_home import TamperedHome, exhibit, make_home, tamper
from tests.unit.test_ledger_tamperings import TAMPERINGS

DOCUMENT = Path(__file__).parents[2] / "docs" / "auditing.md"
BROKEN, UNUSABLE = 7, 8


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> TamperedHome:
    scene = make_home(tmp_path_factory.mktemp("tampered"))
    for command in COMMANDS.values():
        assert exhibit(*command(scene), "--json")[0] == 0, command(scene)
    return scene


def _keys(scene: TamperedHome) -> list[object]:
    return [word for key in scene.vkeys for word in ("--vkey", key)]


COMMANDS: dict[str, Callable[[TamperedHome], tuple[object, ...]]] = {
    "log": lambda s: ("ledger", "verify", "--home", s.home, "--policy", s.folder / "trust.policy"),
    "log and a kept checkpoint": lambda s: (
        *COMMANDS["log"](s),
        "--outside",
        s.folder / "kept-checkpoint",
    ),
    "receipt": lambda s: (
        *("ledger", "verify", "--receipt", s.folder / "receipt", *_keys(s)),
        *("--policy", s.folder / "trust.policy"),
    ),
    "export": lambda s: ("ledger", "verify", "--export", s.folder / "export", *_keys(s)),
    "answer": lambda s: ("ledger", "claim", s.folder / "answer.json", "--home", s.home),
    "package": lambda s: ("ledger", "package", "--check", s.folder / "package.zip", *_keys(s)),
}
"""What verifies, with exit code 0 before anything was changed."""


# ---------------------------------------------------------------- in the log: every part of every kind

Swap = "UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE {other}) WHERE {this}"
PART_MUTATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "a bit of its salt": (("UPDATE secrets SET salt = flip(salt) WHERE {this}",), "salt"),
    "a bit of its key": (("UPDATE secrets SET key = flip(key) WHERE {this}",), "key"),
    "a bit of its content": (("UPDATE blobs SET blob = flip(blob) WHERE {this}",), "part"),
    "no salt": (("UPDATE secrets SET salt = x'' WHERE {this}",), "salt"),
    "no key": (("UPDATE secrets SET key = x'' WHERE {this}",), "key"),
    "no content": (("UPDATE blobs SET blob = x'' WHERE {this}",), "part"),
    "gone": (("DELETE FROM blobs WHERE {this}", "DELETE FROM secrets WHERE {this}"), "part-missing"),
    "its secrets gone": (("DELETE FROM secrets WHERE {this}",), "store"),
    "its content gone": (("DELETE FROM blobs WHERE {this}",), "store"),
    "the salt of another": ((Swap.replace("{table}", "secrets").replace("{column}", "salt"),), "salt"),
    "the key of another": ((Swap.replace("{table}", "secrets").replace("{column}", "key"),), "key"),
    "the content of another": ((Swap.replace("{table}", "blobs").replace("{column}", "blob"),), "part"),
    "all of another": (
        tuple(
            Swap.replace("{table}", table).replace("{column}", column)
            for table, column in (("secrets", "salt"), ("secrets", "key"), ("blobs", "blob"))
        ),
        "salt",
    ),
}


def parts_of(kind: Kind) -> tuple[str, ...]:
    return (*PART_NAMES[kind], *(("sources/1",) if SOURCES in PART_NAMES[kind] else ()))


PARTS = [(kind, name, mutation) for kind in Kind for name in parts_of(kind) for mutation in PART_MUTATIONS]
LEAVES: dict[str, tuple[str, str]] = {
    "a bit of it": ("UPDATE leaves SET leaf = flip(leaf) WHERE idx = {index}", "leaf-hash"),
    "a bit of its hash": ("UPDATE leaves SET hash = flip(hash) WHERE idx = {index}", "leaf-hash"),
    "it and its hash": (
        "UPDATE leaves SET leaf = flip(leaf), hash = leaf_hash(flip(leaf)) WHERE idx = {index}",
        "node",
    ),
    "the leaf of another": (
        "UPDATE leaves SET leaf = (SELECT leaf FROM leaves WHERE idx = {other}) WHERE idx = {index}",
        "leaf-hash",
    ),
    "gone with its parts": (
        "DELETE FROM blobs WHERE idx = {index}; DELETE FROM secrets WHERE idx = {index};"
        " DELETE FROM leaves WHERE idx = {index}",
        "index|truncated|behind",
    ),
}
Chosen = dict[Kind, tuple[int, int]]
ONE_OF_A_KIND = (Kind.KEY,)
"""The kinds of which the home has one entry: what is put in its place is a question. Of `config` it has one for each run
of ingest."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chosen(original: TamperedHome) -> Chosen:
    return await original.chosen()


@pytest.fixture(scope="module")
def scratch(original: TamperedHome, tmp_path_factory: pytest.TempPathFactory) -> TamperedHome:
    """A copy whose log is put back before each change."""
    return original.copied(tmp_path_factory.mktemp("scratch") / "scene")


def restored(original: TamperedHome, scratch: TamperedHome) -> TamperedHome:
    for path in scratch.home.glob("ledger.sqlite*"):
        path.unlink()
    shutil.copy2(original.database, scratch.database)
    return scratch


async def steps_of(scene: TamperedHome) -> set[str]:
    """The steps that verifying names. A log whose keys cannot be followed is not opened: that says the step."""
    try:
        return {problem.step for problem in (await scene.verified()).problems}
    except VerificationFailed as exc:
        return {exc.step}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("kind", "name", "mutation"), PARTS)
async def test_each_part_of_each_kind(
    original: TamperedHome, scratch: TamperedHome, chosen: Chosen, kind: Kind, name: str, mutation: str
) -> None:
    scene, (index, other) = restored(original, scratch), chosen[kind]
    statements, step = PART_MUTATIONS[mutation]
    theirs = name if kind not in ONE_OF_A_KIND else "question"
    places = {"this": f"idx = {index} AND name = '{name}'", "other": f"idx = {other} AND name = '{theirs}'"}
    tamper(scene.database, "; ".join(statements).format(**places))
    told = await steps_of(scene)
    assert step in told or (kind is Kind.KEY and told == {"key"}), told


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("mutation", LEAVES)
@pytest.mark.parametrize("kind", Kind)
async def test_the_leaf_of_each_kind(
    original: TamperedHome, scratch: TamperedHome, chosen: Chosen, kind: Kind, mutation: str
) -> None:
    scene, (index, other) = restored(original, scratch), chosen[kind]
    statements, steps = LEAVES[mutation]
    tamper(scene.database, statements.format(index=index, other=other))
    told = await steps_of(scene)
    assert told & set(steps.split("|")) or (kind is Kind.KEY and told == {"key"}), told


# ---------------------------------------------------------------- the other files, by the command


def rewritten(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flipped(data: bytes, at: int | None = None) -> bytes:
    """One bit of one byte, in the middle unless told, another."""
    at = len(data) // 2 if at is None else at
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


Change = Callable[[TamperedHome], None]


def bit(path: str, at: int | None = None) -> Change:
    return lambda scene: rewritten(scene.folder / path, lambda data: flipped(data, at))


def emptied(path: str) -> Change:
    return lambda scene: rewritten(scene.folder / path, lambda _: b"")


def gone(path: str) -> Change:
    return lambda scene: (scene.folder / path).unlink()


def open_to_all(path: str) -> Change:
    return lambda scene: (scene.folder / path).chmod(0o644)


def line(path: str, number: int) -> Change:
    """A letter in the middle of one line of a text."""

    def change(data: bytes) -> bytes:
        lines = data.split(b"\n")
        middle, said = len(lines[number]) // 2, lines[number]
        lines[number] = said[:middle] + (b"B" if said[middle : middle + 1] == b"A" else b"A") + said[middle + 1 :]
        return b"\n".join(lines)

    return lambda scene: rewritten(scene.folder / path, change)


def indexed(statement: str) -> Change:
    return lambda scene: tamper(scene.home / "ledger-index.sqlite", statement)


def made(path: str, text: str) -> Change:
    """A file that was not there."""

    def work(scene: TamperedHome) -> None:
        (scene.folder / path).parent.mkdir(exist_ok=True)
        (scene.folder / path).write_text(text, "utf-8")

    return work


def said_otherwise(*path: str) -> Change:
    """A value of the saved answer is another one of the same form, or is not there."""

    def change(data: bytes) -> bytes:
        body = json.loads(data)
        inner = body
        for name in path[:-1]:
            inner = inner[name]
        value = inner[path[-1]]
        if isinstance(value, int):
            inner[path[-1]] = value + 1
        elif path[0] == "promise" and isinstance(value, str):
            inner[path[-1]] = value.translate(str.maketrans("0123456789abcdefABCDEF", "1032547698badcfeBADCFE"))
        else:
            del inner[path[-1]]
        return json.dumps(body).encode()

    return lambda scene: rewritten(scene.folder / "answer.json", change)


def repacked(name: str, change: Callable[[bytes], bytes] | None) -> Change:
    """The package with one of its files changed, or left out."""

    def work(scene: TamperedHome) -> None:
        path = scene.folder / "package.zip"
        with zipfile.ZipFile(path) as old:
            files = {name: old.read(name) for name in old.namelist()}
        data = files.pop(name)
        files |= {} if change is None else {name: change(data)}
        with zipfile.ZipFile(path, "w") as new:
            for each, content in files.items():
                new.writestr(each, content)

    return work


def tenant_keys_swapped(scene: TamperedHome) -> None:
    one, other = sorted((scene.home / "keys").glob("tenant-*.key"))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


RECEIPT = {0: "", 1: "", 2: "", 3: "inclusion-proof", 4: "inclusion-proof", 6: "signature", 7: "",
           8: "signature", 10: "signature", 11: "signature", 12: "cosignature", 13: "cosignature"}  # fmt: skip
"""Of each line of a receipt the step; of the form of a receipt there is none, it is refused as a whole."""
SAID = ("request_id", "outcome", "reason_codes", "answer", "answer_markdown", "sentences", "citations", "evidence",
        "limitations", "policy", "provenance", "bbox", "interpretation")  # fmt: skip
PROMISED = (
    "v",
    "entry_id",
    "leaf_hash",
    "answer_digest",
    "replica",
    "rseq",
    "time",
    "merge_delay_s",
    "key",
    "signature",
)
PACKED = ("README.txt", "answer.json", "bundle.json", "log.vkey", "manifest.json", "policy.answer.json",
          "policy.evidence.json", "policy.query.json", "prov.json", "prov.jsonld", "question.txt", "quotes.json",
          "receipts/intent.txt", "receipts/outcome.txt", "scope.json", "sources/1.json", "verify.html")  # fmt: skip


def file_tamperings() -> Iterator[tuple[str, str, Change, int, str]]:
    """What is changed, what is asked, how, the exit code, and the step ("" where the whole is refused)."""
    for name in ("log.key", "log-2.key", "pseudonym.key"):
        yield f"a bit of {name}", "log", bit(f"home/keys/{name}", -5), UNUSABLE, ""
        yield f"{name} emptied", "log", emptied(f"home/keys/{name}"), UNUSABLE, ""
        yield f"{name} open to others", "log", open_to_all(f"home/keys/{name}"), UNUSABLE, ""
    for name in ("log.key", "pseudonym.key"):
        yield f"{name} gone", "log", gone(f"home/keys/{name}"), UNUSABLE, ""
    yield "the keys of two tenants swapped", "log", tenant_keys_swapped, BROKEN, "salt"
    yield "the held checkpoint changed", "log", bit("home/checkpoint.highest"), BROKEN, "behind"
    yield "the held checkpoint emptied", "log", emptied("home/checkpoint.highest"), BROKEN, "behind"
    yield "a kept checkpoint changed", "log and a kept checkpoint", line("kept-checkpoint", 2), BROKEN, "signature"
    yield "an entry missing in the index", "log", indexed("DELETE FROM entries WHERE idx = 5"), BROKEN, "search-index"
    for column in ("id", "leaf_hash", "kind", "tenant", "request_id", "seal"):
        change = indexed(f"UPDATE entries SET {column} = 'another' WHERE idx = 5")
        yield f"{column} of an entry in the index", "log", change, BROKEN, "search-index"
    for table in ("outcomes", "actors", "signatures", "rules", "places", "sources", "cited_sources"):
        change = indexed(f"DELETE FROM {table} WHERE idx = (SELECT min(idx) FROM {table})")
        yield f"{table} of an entry missing in the index", "log", change, BROKEN, "search-index"
    for table, column in (("outcomes", "outcome"), ("actors", "actor"), ("rules", "rule"), ("outcomes", "model")):
        change = indexed(f"UPDATE {table} SET {column} = 'another' WHERE idx = (SELECT min(idx) FROM {table})")
        yield f"{column} of an entry in the index is another", "log", change, BROKEN, "search-index"
    yield "a file with what was erased", "log", made("home/notes.txt", TEXTS["ferry.md"]), BROKEN, "erased"
    yield "a cache with what was erased", "log", made("home/cache/page", TEXTS["ferry.md"][12:]), BROKEN, "erased"
    size = len("exhibit.local/ledger\n1")  # its last digit: another character may be no base64, which is another fault
    for path, at, step in (
        ("checkpoint", size, "signature checkpoint checkpoint"),
        ("tile/entries/000.p/18", None, "tile bundle bundle"),
        ("tile/0/000.p/18", None, "tile tile tile"),
    ):
        changes = (("a bit of", partial(bit, at=at)), ("nothing in", emptied), ("no", gone))
        for (said, change), each in zip(changes, step.split(), strict=True):
            yield f"{said} {path} of an export", "export", change(f"export/{path}"), BROKEN, each
    for number, step in RECEIPT.items():
        yield f"line {number} of a receipt", "receipt", line("receipt", number), BROKEN, step
    for name in SAID:
        yield f"a saved answer without {name}", "answer", said_otherwise(name), BROKEN, "answer"
    for name in PROMISED:
        yield f"{name} of a promise", "answer", said_otherwise("promise", name), BROKEN, ""
    yield "a saved answer without its promise", "answer", said_otherwise("promise"), BROKEN, ""
    for name in PACKED:
        yield f"a bit of {name} of a package", "package", repacked(name, flipped), BROKEN, ""
        yield f"no {name} in a package", "package", repacked(name, None), BROKEN, ""


FILES = {name: rest for name, *rest in file_tamperings()}


@pytest.mark.parametrize("name", FILES)
def test_each_file(original: TamperedHome, tmp_path: Path, name: str) -> None:
    scene = original.copied(tmp_path / "scene")
    asked, change, expected, step = FILES[name]
    change(scene)  # type: ignore[operator]
    code, out = exhibit(*COMMANDS[str(asked)](scene), "--json")
    told = json.loads(out)
    assert code == expected, told
    problems = told.get("problems", [])
    steps = {each["step"] for each in problems} or {told.get("error", told)["message"].partition(":")[0]}
    assert not step or step in steps, told


def tenants_key_gone(scene: TamperedHome) -> None:
    """Of the tenant that asked: the other one's opens the entries on changes of keys."""
    for path in (scene.home / "keys").glob("tenant-*.key"):
        kept = path.read_bytes()
        path.unlink()
        if exhibit(*COMMANDS["log"](scene))[0] == 0:
            return
        path.write_bytes(kept)
        path.chmod(0o600)
    raise AssertionError("every key is needed")


UNNOTICED: dict[str, tuple[str, Change]] = {
    "the page of an export": ("export", bit("export/verify.html")),
    "the key in an export": ("export", emptied("export/vkey")),
    "a later key of the log gone": ("log", gone("home/keys/log-2.key")),
    "a tenant's key gone": ("log", tenants_key_gone),
    "the whole index gone": ("log", gone("home/ledger-index.sqlite")),
    "the held checkpoint gone": ("log", gone("home/checkpoint.highest")),
    "the times of a saved answer": ("answer", said_otherwise("timings_ms")),
}
"""What the page says goes unnoticed."""


@pytest.mark.parametrize("name", UNNOTICED)
def test_what_is_no_part_of_the_log(original: TamperedHome, tmp_path: Path, name: str) -> None:
    scene = original.copied(tmp_path / "scene")
    asked, change = UNNOTICED[name]
    change(scene)
    code, out = exhibit(*COMMANDS[asked](scene), "--json")
    assert code == 0, out


def test_the_page_says_how_many_and_has_every_step() -> None:
    """`docs/auditing.md` says how many things are done to a log, and its table has each step that names one."""
    page = DOCUMENT.read_text("utf-8")
    done = len(PARTS) + len(LEAVES) * len(Kind) + len(FILES) + len(TAMPERINGS)
    told = re.search(r"try ([\d,]+) such changes", page)
    assert told is not None and int(told[1].replace(",", "")) == done >= 80
    table = page[page.index("| what was done to the log | step |") : page.index("The last row is the limit")]
    steps = {step for _, step in PART_MUTATIONS.values()} | {step for _, step in TAMPERINGS.values()}
    steps |= {each for _, said in LEAVES.values() for each in said.split("|")}
    steps |= {str(step) for *_, step in FILES.values() if step}
    assert {step for step in steps if f"`{step}`" not in table} == set()
