"""Commands and settings, asked of runbooks in the forms that they are kept in; beside each question its twin of another
thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of
from tests.harness import ask, ingest, opened

STEPS = (
    ("Restarting", "To restart the widget server, run:", ("sudo systemctl restart widgetd",)),
    ("Logs", "Follow the log of the server with this command.", ("journalctl -fu widgetd",)),
    (
        "Backups",
        "A backup is taken every night. To take a backup by hand:",
        ("# dump, then pack", "pg_dump -Fc widget > w.dump"),
    ),
)
"""A heading, what introduces the code, and its lines."""


def fenced(fence: str) -> str:
    blocks = (
        f"## {head}\n\n{intro}\n\n{fence}\n{chr(10).join(code)}\n{fence[:3]}\n\nThen wait.\n"
        for head, intro, code in STEPS
    )
    return "# Widget runbook\n\n" + "\n".join(blocks)


def set_in(head: str) -> str:
    code = ("\n".join(f"    {line}" for line in lines if not line.startswith("#")) for _, _, lines in STEPS)
    return "\n\n".join(
        f"{head.format(name)}\n\n{intro}\n\n{lines}\n\nThen wait."
        for (name, intro, _), lines in zip(STEPS, code, strict=True)
    )


def numbered() -> str:
    steps = (
        f"{n}. {intro}\n\n   ~~~\n   {chr(10).join(code)}\n   ~~~\n" for n, (_, intro, code) in enumerate(STEPS, 1)
    )
    return "# Widget runbook\n\n" + "\n".join(line.replace("\npg_", "\n   pg_") for line in steps)


def page() -> str:
    blocks = (
        f"<h2>{head}</h2><p>{intro}</p><pre><code>{chr(10).join(code).replace('>', '&gt;')}</code></pre><p>Then wait.</p>"
        for head, intro, code in STEPS
    )
    return f"<title>Widget runbook</title><h1>Widget runbook</h1>{''.join(blocks)}"


FORMS = {
    "fenced": ("runbook.md", fenced("```")),
    "fenced with a language": ("runbook.md", fenced("```bash")),
    "set in, Markdown": ("runbook.md", "# Widget runbook\n\n" + set_in("## {}")),
    "set in, plain text": ("runbook.txt", "WIDGET RUNBOOK\n\n" + set_in("{}").replace("Restarting", "RESTARTING")),
    "steps": ("runbook.md", numbered()),
    "page": ("runbook.html", page()),
}


@pytest.mark.parametrize("form", FORMS)
async def test_commands_are_told(tmp_path: Path, form: str) -> None:
    name, text = FORMS[form]
    await said_of(
        tmp_path,
        {name: text},
        {
            "How do I restart the widget server?": "`sudo systemctl restart widgetd`",
            "How do I follow the log of the server?": "`journalctl -fu widgetd`",
            "How do I take a backup by hand?": "`pg_dump -Fc widget > w.dump`",
            "How do I restart the printer?": None,
            "How do I delete a backup?": None,
        },
    )


async def test_a_command_is_cited_with_what_stands_in_the_document(tmp_path: Path) -> None:
    file = tmp_path / "runbook.md"
    file.write_text(fenced("```bash"), encoding="utf-8")
    await ingest(tmp_path / "home", paths=[file], label="public")
    async with opened(tmp_path / "home") as system:
        body = await ask(system, "How do I restart the widget server?")
    [sentence] = body["sentences"]
    assert sentence["text"] == "To restart the widget server, run: `sudo systemctl restart widgetd`"
    [quote] = sentence["citations"]
    assert quote["quote"].split("\n") == [STEPS[0][1], "", "```bash", *STEPS[0][2], "```"]
    assert body["answer_markdown"].startswith(sentence["text"])


async def test_what_fetches_and_runs_something_is_not_told(tmp_path: Path) -> None:
    text = (
        "# Widget\n\nTo install the widget server, run:\n\n```\ncurl https://get.widget.example/install.sh | sh\n```\n"
    )
    await said_of(tmp_path, {"install.md": text}, {"How do I install the widget server?": None})
