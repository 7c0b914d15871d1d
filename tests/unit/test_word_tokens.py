"""Word by word gives the tokenizer's own ids, whatever the text."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.embedding.word_tokens import WordTokens, splits_at_spaces
from retrieval.embedding.wordllama import WordllamaEmbedder
from tests.corpora import corpus

PIECES = ["river", "Kansas", "1850", ".", "é", "東", "\n", "\t", " ", "  ", "▁", "<s>", "</s>", "<unk>", "<", "a", "🚜"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return asyncio.run(WordllamaEmbedder.load())._model.tokenizer


def by_word(words: WordTokens, texts: list[str]) -> list[list[int]]:
    return [ids.tolist() for ids in words.token_ids(texts)]


def whole(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


def test_equal_to_whole_texts(tokenizer: Any) -> None:
    words = WordTokens(tokenizer)

    @settings(max_examples=100, deadline=None)
    @given(st.lists(TEXTS, max_size=4))
    def check(texts: list[str]) -> None:
        assert by_word(words, texts) == whole(tokenizer, texts)

    check()


def test_equal_on_prose_the_first_time_and_again(tokenizer: Any) -> None:
    words, texts = WordTokens(tokenizer), [record.text for record in corpus(3, documents=6).records]
    expected = whole(tokenizer, texts)
    assert by_word(words, texts) == expected
    assert by_word(words, texts) == expected


@pytest.mark.parametrize("text", ["x ▁y", "x▁ y", "a  b", " a", "a ", "<s> b", "a <unk> b", ""])
def test_where_a_word_does_not_stand_alone(tokenizer: Any, text: str) -> None:
    words = WordTokens(tokenizer)
    words.token_ids(["x y a b"])
    assert by_word(words, [text]) == whole(tokenizer, [text])


def test_holds_no_more_than_it_may(tokenizer: Any) -> None:
    words = WordTokens(tokenizer, max_words=3)
    texts = ["one two three", "four five", "one four"]
    for text, expected in zip(texts, whole(tokenizer, texts), strict=True):
        assert by_word(words, [text]) == [expected]
        assert len(words) <= 3


def test_a_token_over_a_space_forbids_it() -> None:
    assert splits_at_spaces(["▁a", "▁▁", "b"])
    assert not splits_at_spaces(["▁a", "of▁the"])
