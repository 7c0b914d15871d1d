"""Blocks of code in a text: one sentence each, or the end of the one that says what it is for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.models.candidates import is_code, is_whole
from ai.models.context import prompt_source
from ai.text.markdown import code_blocks, plain, slice_of, unfenced
from ai.text.sentences import split_sentences, trimmed
from retrieval.ingest.formats.html import read_html
from retrieval.ingest.parsing.runs import fenced, is_quotable
from retrieval.ingest.parsing.structure import blocks_of
from retrieval.ingest.records.chunk import ChunkSize, passages
from retrieval.ingest.values import LoadedFile
from retrieval.model import Intent
from tests.fakes_ai import an_item

LINES = st.lists(
    st.sampled_from(
        (
            "sudo systemctl restart widgetd",
            "# dump the database. Then wait",
            "$ pg_dump -Fc widget > /var/backups/widget.dump",
            '{"status": "green"}',
            "- name: build",
            "",
            "[server]",
            "    port = 8080",
            "echo `date`",
            "SELECT count(*) FROM jobs; -- All. Of them",
            "1. not a list",
            "~~~",
        )
    ),
    min_size=1,
    max_size=8,
).filter(lambda lines: any(line.strip() for line in lines))
FENCES = st.sampled_from(("```", "```bash", "~~~~", "````sh"))
INTROS = st.sampled_from(("To restart it, run:", "Restart it with", "It takes a minute. Then type this:"))


def sentences(text: str) -> list[str]:
    return [text[(s := trimmed(text, each)).start : s.end] for each in split_sentences(text, lined=True)]


def shown(lines: list[str]) -> str:
    return " ".join(f"`` {each} ``" if "`" in each else f"`{each}`" for line in lines if (each := line.strip()))


@given(LINES, FENCES, INTROS)
def test_a_block_behind_a_colon_belongs_to_what_introduces_it(lines: list[str], fence: str, intro: str) -> None:
    text = f"{intro}\n\n{fence}\n" + "\n".join(lines) + f"\n{re.match('[`~]+', fence)[0]}\n\nWait ten seconds."  # type: ignore[index]
    *_, said, last = sentences(text)
    assert last == "Wait ten seconds."
    assert " ".join(unfenced(said).split()) == " ".join(f"{intro.rpartition('. ')[2]} {shown(lines)}".split())
    assert "".join(text[s.start : s.end] for s in split_sentences(text)) == text


@given(LINES, FENCES)
def test_a_block_behind_a_whole_sentence_is_one_of_its_own(lines: list[str], fence: str) -> None:
    text = f"Restart it now.\n\n{fence}\n" + "\n".join(lines) + f"\n{re.match('[`~]+', fence)[0]}\nWait."  # type: ignore[index]
    first, code, last = sentences(text)
    assert (first, last) == ("Restart it now.", "Wait.")
    said = " ".join(plain(code).split())
    assert said == " ".join(shown(lines).split())
    assert is_code(said)
    assert is_whole(said, prompt_source(an_item(text), Intent()))


@given(LINES, FENCES, st.integers(3, 20), st.sampled_from(("One is here.", "Type:")))
def test_a_passage_never_parts_code(lines: list[str], fence: str, words: int, intro: str) -> None:
    mark = re.match("[`~]+", fence)[0]  # type: ignore[index]
    text = (
        f"# Head\n\nSome words stand here. {intro}\n\n{fence}\n" + "\n".join(lines) + f"\n{mark}\n\nThe end. Of it.\n"
    )
    found = passages(LoadedFile(text, "text/markdown", "sha256:0"), ChunkSize(words, words * 2))
    [held] = [text[p.start_char : p.end_char] for p in found if fence in text[p.start_char : p.end_char]]
    assert intro in held
    assert code_blocks(held)[0].lines == tuple(line.strip() for line in lines if line.strip())


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Type this:\n\n    make install\n\nThen wait.", ("make install",)),
        ("Type this.\n\n\tmake\n\tmake test\n", ("make", "make test")),
        ("The query is\n\n    SELECT 1;\n", ("SELECT 1;",)),
        ("```\nno last fence", ("no last fence",)),
        ("> Quoted:\n>\n> ```\n> make\n> ```\n", ("make",)),
    ],
)
def test_blocks_of_code(text: str, lines: tuple[str, ...]) -> None:
    [block] = code_blocks(text)
    assert block.lines == lines
    assert shown(list(lines)) in " ".join(unfenced(text).split())


@pytest.mark.parametrize(
    "text",
    [
        "The sign reads:\n\n    Please Ring Twice\n\nNobody does.",
        "They came to the hall:\n\n    the doors were open.\n",
        "Write to:\n\n    12 High Street\n    Harle\n",
        "Bring these:\n\n    - boots\n    - a coat\n",
        "Use `make` and ```x``` in a line.",
        "no text before\n    make install\n",
    ],
)
def test_what_is_no_code(text: str) -> None:
    assert code_blocks(text) == ()
    assert unfenced(text) == text


def test_a_block_set_in_by_spaces_is_shown_as_code_wherever_its_sentence_begins() -> None:
    text = "Show the last hour.\n\n    tbox show --hours 1\n"
    spans = [trimmed(text, each) for each in split_sentences(text)]
    assert [" ".join(slice_of(text, s.start, s.end).split()) for s in spans] == [
        "Show the last hour.",
        "`tbox show --hours 1`",
    ]


@given(st.text(st.sampled_from("`~ >\n\tab.:#-1"), max_size=80))
def test_any_text_is_cut_without_a_fault(text: str) -> None:
    spans = split_sentences(text, lined=True)
    assert "".join(text[s.start : s.end] for s in spans) == (text if text.strip() else "")
    assert unfenced(unfenced(text)) is not None


def test_long_code_is_in_no_passage() -> None:
    code = "\n".join(f"step {n}" for n in range(40))
    text = f"# Head\n\nRun all of it:\n\n```\n{code}\n```\n\nDone.\n"
    assert not is_quotable(code)
    assert [block.kind for block in blocks_of(text, "text/markdown")] == ["heading", "prose", "prose"]


@given(LINES)
def test_code_of_a_page_keeps_its_lines(lines: list[str]) -> None:
    code = "\n".join(lines).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    page = f"<h1>Guide</h1><p>To restart it, run:</p><pre><code>{code}</code></pre><p>Wait.</p>"
    read = read_html("guide.html", page)
    assert [block.kind for block in read.blocks or ()] == ["heading", "prose", "code", "prose"]
    assert fenced("\n".join(lines)) in read.text
    assert code_blocks(read.text)[0].lines == tuple(each for line in lines if (each := line.strip()))


def test_a_page_that_sets_a_poem_in_lines_has_no_code() -> None:
    read = read_html("poem.html", "<h1>Poem</h1><pre>The sea\nis grey</pre>")
    assert "```" not in read.text
