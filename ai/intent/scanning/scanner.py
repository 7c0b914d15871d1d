"""The place in a question up to which it has been read, and what was found there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ai.intent.lexicon import Role
from ai.intent.phrases import Listed, Phrases
from ai.intent.scanning.binding import Mark, bind
from ai.intent.tokens import Item
from retrieval.model import EntityRef


class Scanner:
    """Reads the items once. `denied` is a negation that waits for its condition."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.at = 0
        self.found = Phrases()
        self.denied: Item | None = None
        self.last = ""
        self.marks: list[Mark] = []
        self._solid = [len(items)]
        for i in range(len(items) - 1, -1, -1):
            self._solid.append(self._solid[-1] if items[i].text in _LIGHT else i)
        self._solid.reverse()

    def read(self, phrases: Sequence[Callable[[Scanner], bool]]) -> Phrases:
        """The phrases of all items, each by the first of these that takes what is there."""
        while self.at < len(self.items):
            if not any(phrase(self) for phrase in phrases):
                self._leave()
        self._drop_denial()
        bind(self.found, self.marks)
        return self.found

    def mark(self, kind: str, place: int = 0) -> None:
        """Keeps the order of figures and times."""
        self.marks.append(Mark(kind, place))

    def text(self, ahead: int = 0) -> str:
        """The words of the item at this distance; empty after the last."""
        return self.item(ahead).text if self.at + ahead < len(self.items) else ""

    def has(self, role: Role, ahead: int = 0) -> bool:
        """True if the item at this distance can do this."""
        at = self.at + ahead
        return at < len(self.items) and self.items[at].has(role)

    def item(self, ahead: int = 0) -> Item:
        """The item at this distance."""
        return self.items[self.at + ahead]

    def skip(self, ahead: int = 0) -> int:
        """The distance of the first item from `ahead` on that is no article or filler."""
        return self._solid[min(self.at + ahead, len(self.items))] - self.at

    def take_denial(self) -> bool:
        """True if the condition holds: false after a negation, which is then consumed."""
        denied, self.denied = self.denied, None
        return denied is None

    def deny(self, item: Item) -> None:
        """Keeps a negation for the condition after it; a second one is left over."""
        self._drop_denial()
        self.denied = item

    def _drop_denial(self) -> None:
        if self.denied is not None:
            self.found.left.append(self.denied)
            self.denied = None

    def _leave(self) -> None:
        self.found.left.append(self.item())
        self.at += 1

    def listed(self, ahead: int, role: Role) -> tuple[Listed, int] | None:
        """The places (or things) from there on and the distance after them."""
        start, ahead = ahead, self.skip(ahead)
        refs: list[EntityRef] = []
        joined = said = ""
        end = ahead
        while self.has(role, ahead):
            joined = said or joined
            ref = self.item(ahead).roles[role]
            assert isinstance(ref, EntityRef)  # noqa: S101 - the role's value
            refs.append(ref)
            ahead += 1
            if self.at + ahead < len(self.items) and self.item(ahead).has(Role.NOTHING) and self.item(ahead).text in _S:
                ahead += 1
            end = ahead
            while self.has(Role.AND, ahead) or (ahead > end and self._light(ahead)):
                said = self.item(ahead).text if self.has(Role.AND, ahead) and self.item(ahead).text != "," else said
                ahead += 1
        if joined == "and" and any(self.text(at) == "both" for at in range(start, ahead - 1)):
            joined = "both"
        return (Listed(tuple(refs), joined if len(refs) > 1 else ""), end) if refs else None

    def _light(self, ahead: int) -> bool:
        return self.at + ahead < len(self.items) and self.item(ahead).text in ("the", "both", "either")


_LIGHT = frozenset({"the", "a", "an", "both", "either"})
_S = frozenset({"'s", "’s", "'", "’"})
