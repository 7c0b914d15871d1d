"""Verification of an exported log (C2SP `tlog-tiles`) with nothing but the keys: all is recomputed from the entry
bundles, and what does not hold is named by its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ledger.entry.leaf import parse_leaf
from ledger.errors import LedgerError, MalformedLeaf, MalformedNote
from ledger.merkle.tiles import TILE_WIDTH, Tile, parse_bundle, parse_tile, tile_path, tiles_of
from ledger.merkle.tree import EMPTY_ROOT, Frontier, Node, hash_leaf
from ledger.model import Kind, Leaf, Problem, TreeHead, Verdict
from ledger.notes.note import VerifierKey, verify_checkpoint
from ledger.notes.trust import TrustPolicy, WitnessedHead
from ledger.proofs.export import CHECKPOINT

Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class FolderReport:
    """The recomputed parts of an exported log and those that did not hold."""

    origin: str
    head: TreeHead
    problems: tuple[Problem, ...]
    witnessed: WitnessedHead | None = None

    @property
    def verdict(self) -> Verdict:
        """Intact if nothing is broken."""
        return Verdict.BROKEN if self.problems else Verdict.INTACT


def verify_folder(read: Read, *, keys: Sequence[VerifierKey], policy: TrustPolicy | None = None) -> FolderReport:
    """Check a log that `read` gives by path (None: no such file) against the log's keys, and its cosignatures against a
    policy. Every problem is in the report, in the order of files: `checkpoint`, `signature`, `origin`, `cosignature`,
    `quorum`, then `bundle`, `leaf`, `duplicate`, `rseq`, `seen`, `ref`, `tile`, `root`. Raises MalformedNote only for
    keys of two logs."""
    if not keys or len({key.name for key in keys}) != 1:
        raise MalformedNote("keys of one log are needed")
    audit = _FolderAudit(read)
    head, witnessed = TreeHead(0, EMPTY_ROOT), None
    try:
        note = _text(read(CHECKPOINT))
        head = verify_checkpoint(note, *keys, origin=keys[0].name)
        witnessed = None if policy is None else policy.check(note)
    except LedgerError as exc:
        audit.add(getattr(exc, "step", CHECKPOINT), str(exc))
    if head.size:
        audit.tree(head)
    return FolderReport(keys[0].name, head, tuple(audit.problems), witnessed)


class _FolderAudit:
    """The state of one verification."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.problems: list[Problem] = []
        self._made: dict[Node, bytes] = {}
        self._rseq: dict[str, int] = {}
        self._hashes: dict[str, str] = {}
        self._requests: set[tuple[str, Kind]] = set()

    def add(self, step: str, detail: str, index: int | None = None) -> None:
        self.problems.append(Problem(step, detail, index=index))

    def tree(self, head: TreeHead) -> None:
        """Bundles, leaves, the tree over them, and each tile against that tree."""
        frontier = Frontier()
        for tile in (tile for tile in tiles_of(head.size) if tile.level == 0):
            leaves = self._bundle(tile._replace(level=None))
            if leaves is None:
                return
            for leaf in leaves:
                self._leaf(leaf, frontier.size)
                frontier, made = frontier.append(hash_leaf(leaf))
                self._made.update((node, value) for node, value in made if node.level % 8 == 0)
        for tile in tiles_of(head.size):
            self._tile(tile)
        if frontier.root != head.root:
            self.add("root", f"the {head.size} leaves do not lead to the root that was signed")

    def _bundle(self, tile: Tile) -> tuple[bytes, ...] | None:
        path, data = tile_path(tile), self._read(tile_path(tile))
        try:
            if data is None:
                raise MalformedNote("the file is missing")
            return parse_bundle(data, width=tile.width)
        except MalformedNote as exc:
            self.add("bundle", f"{path}: {exc}", tile.n * TILE_WIDTH)
            return None

    def _leaf(self, data: bytes, index: int) -> None:
        try:
            leaf = parse_leaf(data)
        except MalformedLeaf as exc:
            self.add("leaf", str(exc), index)
            return
        self._order(leaf, index)
        self._hashes[leaf.entry_id] = hash_leaf(data).hex()

    def _order(self, leaf: Leaf, index: int) -> None:
        if leaf.entry_id in self._hashes or (leaf.request_id, leaf.kind) in self._requests:
            self.add("duplicate", f"an earlier entry has the id or the request and kind {leaf.kind}", index)
        self._requests.add((leaf.request_id, leaf.kind))
        due = self._rseq.get(leaf.replica, 1)
        if leaf.rseq != due:
            self.add("rseq", f"replica {leaf.replica} has number {leaf.rseq} where {due} was due", index)
        self._rseq[leaf.replica] = leaf.rseq + 1
        if leaf.seen.size > index:
            self.add("seen", f"the entry claims to have seen {leaf.seen.size} leaves", index)
        for ref in leaf.refs:
            if self._hashes.get(ref.id) != ref.leaf:
                self.add("ref", f"no earlier entry {ref.id} has the leaf hash that the ref names", index)

    def _tile(self, tile: Tile) -> None:
        path, data = tile_path(tile), self._read(tile_path(tile))
        try:
            if data is None:
                raise MalformedNote("the file is missing")
            wrong = [node for node, value in parse_tile(tile, data).items() if self._made.get(node) != value]
            if wrong:
                raise MalformedNote(f"hash {wrong[0].n - tile.n * TILE_WIDTH} is not that of the leaves")
        except MalformedNote as exc:
            self.add("tile", f"{path}: {exc}", tile.n * TILE_WIDTH << 8 * (tile.level or 0))


def _text(data: bytes | None) -> str:
    if data is None:
        raise MalformedNote("the checkpoint is missing")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise MalformedNote("the checkpoint is not UTF-8") from exc
