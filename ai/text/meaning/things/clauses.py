"""Two things in one sentence, each with a clause of its own: of `The footbridge was built in 1954; Mill Bridge is much
older` the deed is the footbridge's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import HELPER, clause_of, deed_of
from ai.text.meaning.things.subjects import subjects_in
from ai.text.meaning.things.told import NO_NOUN, OPEN, Told, head_of
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_CLAUSE = re.compile(r";\s|,\s(?:but|while|whereas)\s")
_WHO_DID = re.compile(
    rf"\A\W*(?:who|what)\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,}})\s(?:the\s|an?\s)?"
    r"(?P<what>[\w'’-]+(?:\s[\w'’-]+){0,3})\W*\Z",
    re.IGNORECASE,
)
_OBJECTS = word_list("it them one him her")
_THE_OTHERS = re.compile(r"\bthe\s(?:others|rest)\b", re.IGNORECASE)
_PRONOUNS = word_list(
    "it they he she this that these those its their his her everyone everybody anyone nobody others all"
)


@dataclass(frozen=True, slots=True)
class Clauses:
    """The thing asked about by the root of its last word, or all words of its name, and the root of the deed."""

    thing: frozenset[str] = frozenset()
    deed: str = ""

    @classmethod
    def of(cls, question: str) -> Clauses:
        """Reads the question: `Who built Mill Bridge?`, `Where was the strimmer found?` Who asks whether or why may be
        told otherwise."""
        if not OPEN.match(question):
            return cls()
        found = _WHO_DID.match(question)
        _, words, verb = clause_of(question)
        said = found["what"].split() if found is not None else words[:verb]
        if not said:
            return cls()
        named = all(word[0].isupper() for word in said)
        head = head_of(said)
        if fold(head) in NO_NOUN or is_past(fold(head)) or not (named or head.islower()):
            return cls()
        deed = deed_of(question)
        if deed in UNWEIGHED_WORDS:  # `sleep in the shelter at the pass`: the verb was not found
            return cls()
        return cls(frozenset(map(root_of, map(fold, said))) if named else frozenset({root_of(fold(head))}), deed)

    def agrees(self, told: Told) -> bool:
        """True unless one clause has the deed, and a subject of its own, and another clause has the thing."""
        clauses = _CLAUSE.split(told.text) if self.thing and self.deed else []
        if len(clauses) < 2:
            return True
        doing = [clause for clause in clauses if self.deed in all_roots(clause)]
        having = [clause for clause in clauses if self.thing <= all_roots(clause)]
        if not having or not doing or any(clause in having for clause in doing):
            return True
        return not all(self._has_own_subject(clause) for clause in doing)

    def _has_own_subject(self, clause: str) -> bool:
        words = WORD.findall(_THE_OTHERS.sub("others", clause))
        if not _OBJECTS.isdisjoint(map(fold, words)):
            return False
        if not words or fold(words[0]) in _PRONOUNS:
            return False
        own = subjects_in(clause, self.deed)
        if words[0][0].isupper() and fold(words[0]) not in UNWEIGHED_WORDS:
            own = own or words[:1]
        return bool(own) and and_alike(self.thing).isdisjoint(root_of(fold(word)) for word in own)
