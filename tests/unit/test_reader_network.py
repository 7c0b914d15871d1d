"""The network of the reader: what it says is a function of what it is given, whatever it is run with."""

from __future__ import annotations

import threading
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.models.reader.network import Network
from ai.models.reader.told import Told

TEXTS = (
    "The mill burned down.",
    "In 1874 locusts ate the fields of Rush County, and half of the families left before the winter.",
    "Who left?",
    "The ferry at Brekke carried cattle, letters and, on Sundays, the choir; a bell called it over from the other bank.",
    "Its keeper was Ida Holm, who had been paid £14 a year since her husband drowned, and who kept a goat.",
)
PASSAGES = tuple(Told(f"Place {n}", tuple(TEXTS[n:] + TEXTS[:n]), tuple(range(n + 1))) for n in range(len(TEXTS)))
QUESTION = "What was the keeper of the ferry paid?"


@cache
def alone() -> dict[str, bytes]:
    """The vector of each text, by a network that was given nothing else."""
    return {text: Network.load().embed([text])[0].tobytes() for text in TEXTS}


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from(TEXTS), max_size=8))
def test_the_vector_of_a_text_does_not_depend_on_others(texts: list[str]) -> None:
    vectors = Network.load().embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert [vector.tobytes() for vector in vectors] == [alone()[text] for text in texts]
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_passage_is_judged_as_if_it_were_alone() -> None:
    network = Network.load()
    together = network.judge(QUESTION, PASSAGES)
    assert together == [network.judge(QUESTION, [told])[0] for told in PASSAGES]
    assert together == network.judge(QUESTION, PASSAGES[::-1])[::-1]
    assert [sorted(judged) for judged in together] == [list(told.places) for told in PASSAGES]
    assert network.judge(QUESTION, []) == []
    assert network.judge(QUESTION, [Told("Place", TEXTS, ())]) == [{}]


def test_many_askers_at_once_are_told_the_same() -> None:
    network, expected = Network.load(), Network.load().judge(QUESTION, PASSAGES)
    found: list[bool] = []

    def ask() -> None:
        same = network.judge(QUESTION, PASSAGES) == expected
        found.append(same and network.embed(TEXTS).tobytes() == b"".join(alone()[text] for text in TEXTS))

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == [True] * len(askers)


def test_a_claim_without_a_word_is_not_borne_out() -> None:
    network = Network.load()
    assert max(network.weigh("", PASSAGES[0]).features) < min(network.weigh(TEXTS[0], PASSAGES[0]).features)
