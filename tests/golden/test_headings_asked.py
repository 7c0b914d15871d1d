"""Lists of questions in Markdown and plain text, asked by their own headings; beside each its twin of another thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

THINGS = (
    ("cider press", "Ada Lunt", "oak", "turnstile"),
    ("tide clock", "Piers Hanway", "brass", "lantern"),
    ("loom", "Sister Agnes", "beech", "kiln"),
)
FORMS = ("## {}\n\n{}\n\n", "{}\n{}\n\n", "**{}**\n{}\n\n")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("thing", "maker", "stuff", "other"), THINGS)
async def test_a_heading_is_answered_by_what_stands_under_it(
    tmp_path: Path, form: str, thing: str, maker: str, stuff: str, other: str
) -> None:
    asked = {
        f"Who invented the {thing}?": f"Our friend {maker} had the idea in 1911. A neighbour paid for it.",
        f"Why does the museum have a {thing}?": f"A {thing} (of {stuff}) was left to us. It stands in the barn.",
        f"Is there a copy of the {thing}?": "Not yet. One is planned for next year.",
        f"The {thing} sticks. What can I do?": "Use a drop of oil or warm the frame. Water makes it worse.",
        f"What happens to the {thing} in winter?": "Everything is covered with felt. The barn is locked.",
    }
    text = "# Questions about the museum\n\n" + "".join(form.format(*each) for each in asked.items())
    due = ("idea in 1911", "was left to us", "One is planned", "Use a drop of oil", "covered with felt")
    await said_of(
        tmp_path,
        {"faq.md" if form.startswith(("#", "*")) else "faq.txt": text},
        {
            **dict(zip(asked, due, strict=True)),
            f"What should I do if the {thing} sticks?": "Use a drop of oil",
            f"Who invented the {other}?": None,
            f"Why does the museum have a {other}?": None,
            f"Is there a copy of the {other}?": None,
            f"What should I do if the {other} sticks?": None,
            f"What happens to the {other} in winter?": None,
        },
    )
