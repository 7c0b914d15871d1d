"""The tree of a log, grown again from its leaves and compared with what is stored and what was signed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from ledger.merkle.tree import EMPTY_ROOT, Frontier, Node
from ledger.model import Problem
from ledger.stores.store import StoredLeaf

Nodes = Callable[[Sequence[Node]], Awaitable[Mapping[Node, bytes]]]


class RegrownTree:
    """Takes the leaves' hashes by rising index, in batches. After a leaf that is missing nothing can be proved, so
    nothing more is compared."""

    def __init__(self, *, nodes: Nodes, signed: Mapping[int, bytes]) -> None:
        self._nodes = nodes
        self._signed = signed
        self._frontier = Frontier()
        self.size = 0
        """How many leaves there are, missing ones among them."""
        self.roots = {0: EMPTY_ROOT}
        """Of the empty tree and of each signed size, as recomputed."""

    @property
    def proved(self) -> int:
        """How many leaves there are before the first that is missing."""
        return self._frontier.size

    @property
    def root(self) -> bytes:
        """The root over those."""
        return self._frontier.root

    async def grow(self, batch: Sequence[StoredLeaf], hashes: Sequence[bytes]) -> dict[int, list[Problem]]:
        """Add these leaves; what does not hold, by the index of the leaf that shows it."""
        found: dict[int, list[Problem]] = {}
        first, made, signed = self.proved, list[tuple[Node, bytes]](), list[StoredLeaf]()
        following = _following(batch, first) if first == self.size else 0
        for start, end in self._spans(following):
            self._frontier, completed = self._frontier.extend(hashes[start:end])
            made += completed
            if self.proved in self._signed:
                self.roots[self.proved] = self.root
                signed.append(batch[end - 1])
        stored = await self._nodes([node for node, _ in made])
        for node, value in made:
            if stored.get(node) != value:
                fault = f"{_describe(node)} is {'changed' if node in stored else 'missing'}"
                _note(found, batch[((node.n + 1) << node.level) - 1 - first], "node", fault)
        for leaf in signed:
            if self._signed[leaf.index + 1] != self.roots[leaf.index + 1]:
                _note(found, leaf, "root", f"the root over {leaf.index + 1} leaves is not the one that was signed")
        if following < len(batch) and first == self.size:
            missing = f"leaf {self.proved} is missing; nothing after it can be proved"
            _note(found, batch[following], "index", missing)
        self.size = batch[-1].index + 1
        return found

    def _spans(self, count: int) -> Iterator[tuple[int, int]]:
        """The next `count` leaves, cut where a size was signed for."""
        start, first = 0, self.proved
        for end in range(1, count + 1):
            if end == count or first + end in self._signed:
                yield start, end
                start = end


def _following(batch: Sequence[StoredLeaf], size: int) -> int:
    """How many leaves of the batch follow one on the other from that size on."""
    return next((n for n, stored in enumerate(batch) if stored.index != size + n), len(batch))


def _note(found: dict[int, list[Problem]], stored: StoredLeaf, step: str, detail: str) -> None:
    problem = Problem(step, detail, index=stored.index, entry_id=stored.entry_id)
    found.setdefault(stored.index, []).append(problem)


def _describe(node: Node) -> str:
    first = node.n << node.level
    return f"the tree node over leaves {first} to {first + (1 << node.level) - 1}"
