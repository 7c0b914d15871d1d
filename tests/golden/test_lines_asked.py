"""Heads of minutes and letters, data sheets, glossaries and sections, asked through the whole product; beside each its twin,
for which the document has something else under another label."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

MEETINGS = (("Thornby Parish Council", "Ms Orr"), ("Larch Trust", "Ivo Stern"), ("Elm Tennis Club", "Vera Lund"))
HEADS = ("{}: {}\n", "- **{}:** {}\n", "**{}**: {}\n")
CHAIRS = ("Chair", "Chairperson", "In the chair")
LETTERS = (("bridge", "Edgar Nunn", "Clara Voss"), ("winter tyres", "Helen Marsh", "All drivers"))
TERMS = {
    "RFID": "radio-frequency identification",
    "WMS": "warehouse management system",
    "SKU": "stock-keeping unit",
    "Propolis": "a resin that bees collect from tree buds",
    "Queen excluder": "a grid that lets workers pass but not the queen",
}
SHEETS = (
    ("P-40 pump", {"Weight": "14 kg", "Maximum flow": "120 litres per minute", "Manufacturer": "Aldous Pumps"}),
    ("Borealis kettle", {"Cable length": "75 cm", "Colour": "white", "Manufacturer": "Norrland Home"}),
)
LEASE = """LEASE OF THE OLD FORGE

1 Parties
This lease is made between Rhona Bell and the Forge Co-operative.

2 Repairs
The roof is kept in repair by the tenant. The landlord pays for the drains.

3 Fees
The yearly fee is 12 pounds. It is due in March.
"""


async def said_of(tmp_path: Path, files: Mapping[str, str], questions: Mapping[str, str | None]) -> None:
    """Each question is answered with its words, or not at all."""
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[folder], label="public")
    wrong = []
    async with opened(tmp_path / "home") as system:
        for question, due in questions.items():
            body = await ask(system, question)
            answer = body["answer"] if body["outcome"] == "ANSWER" else ""
            if (due is None and answer) or (due is not None and due not in answer):
                wrong.append((question, due, answer))
    assert wrong == []


@pytest.mark.parametrize("form", HEADS)
async def test_heads_of_minutes(tmp_path: Path, form: str) -> None:
    files, questions = dict[str, str](), dict[str, str | None]()
    for (body, chair), label in zip(MEETINGS, CHAIRS, strict=True):
        head = {"Date": f"{len(body)} May 2021", label: chair, "Present": "Una Dale, Max Orme", "Apologies": "Mrs Tate"}
        lines = "".join(form.format(*each) for each in head.items())
        files[f"{body}.md"] = f"# Minutes of the {body}\n\n{lines}\nThe accounts were approved.\n"
        questions |= {
            f"Who chaired the meeting of the {body}?": chair,
            f"Who was present at the meeting of the {body}?": "Una Dale",
            f"Who attended the {body} meeting?": "Max Orme",
            f"Who sent apologies to the {body}?": "Mrs Tate",
            f"When was the meeting of the {body}?": f"{len(body)} May 2021",
            f"Who was the treasurer of the {body}?": None,
            f"Who did not attend the meeting of the {body}?": None,
            f"Who took the minutes of the {body}?": None,
        }
    lines = "".join(form.format(*each) for each in {"Present": "A. Roe, B. Finch", "Agenda": "water"}.items())
    files["allotment.md"] = f"# Minutes of the Allotment Society\n\n{lines}\nTwo plots are vacant.\n"
    questions |= {
        "Who was present at the meeting of the Allotment Society?": "Finch",
        "Who chaired the meeting of the Allotment Society?": None,
        "Who sent apologies to the Allotment Society?": None,
        "When was the meeting of the Allotment Society?": None,
    }
    await said_of(tmp_path, files, questions)


async def test_heads_of_letters(tmp_path: Path) -> None:
    files, questions = dict[str, str](), dict[str, str | None]()
    for about, sender, recipient in LETTERS:
        head = f"From: {sender}\nTo: {recipient}\nDate: 9 June 1987\n"
        files[f"{about}.md"] = (
            f"# Letter about the {about}\n\n{head}\nEverything was ready at last. We are glad of it.\n"
        )
        questions |= {
            f"Who wrote the letter about the {about}?": sender,
            f"Who is the letter about the {about} from?": sender,
            f"To whom was the letter about the {about} sent?": recipient,
            f"When was the letter about the {about} written?": "9 June 1987",
            f"Who wrote the letter about the {about} to {sender}?": None,
        }
    files["article.md"] = (
        "# The meeting of Ford and Hale\n\nAuthor: Lena Brook\nDate: 12 March 2019\n\nThey shared the tunnel.\n"
    )
    questions |= {
        "Who wrote the letter about the tunnel?": None,
        "When was the meeting of Ford and Hale?": None,
        "Who wrote the article on the meeting of Ford and Hale?": "Lena Brook",
    }
    await said_of(tmp_path, files, questions)


@pytest.mark.parametrize("form", ["- {}: {}\n", "**{}**: {}\n\n", "{} — {}\n", "- {} = {}\n", "| {} | {} |\n"])
async def test_glossaries(tmp_path: Path, form: str) -> None:
    table = "| Term | Meaning |\n|---|---|\n" if form.startswith("|") else ""
    lines = table + "".join(form.format(*each) for each in TERMS.items())
    text = f"# Handbook of the depot\n\n{lines}\n\n## Gates\n\nThe ASN must arrive a day before the lorry.\n"
    short = {term for term in TERMS if term.isupper()}
    questions: dict[str, str | None] = {f"What does {term} mean?": meaning for term, meaning in TERMS.items()}
    questions |= {f"What does {term} stand for?": TERMS[term] for term in short}
    questions |= {f"What is {term}?": TERMS[term] for term in short}
    questions |= {"What does ASN stand for?": None, "What does RFI stand for?": None, "Who invented RFID?": None}
    await said_of(tmp_path, {"handbook.md": text}, questions)


async def test_data_sheets(tmp_path: Path) -> None:
    files, questions = dict[str, str](), dict[str, str | None]()
    for name, cells in SHEETS:
        lines = "".join(f"{label}: {value}\n" for label, value in cells.items())
        files[f"{name}.md"] = f"# {name} data sheet\n\n{lines}\nIt switches itself off.\n"
        questions |= {f"What is the {label.lower()} of the {name}?": value for label, value in cells.items()}
        questions |= {f"Who makes the {name}?": cells["Manufacturer"], f"What is the price of the {name}?": None}
    questions |= {
        "What is the minimum flow of the P-40 pump?": None,
        "What is the weight of the P-50 pump?": None,
        "What is the weight of the Borealis kettle?": None,
        "How long is the cable of the Borealis kettle?": "75 cm",
        "How long is the Borealis kettle?": None,
    }
    await said_of(tmp_path, files, questions)


async def test_sections(tmp_path: Path) -> None:
    parts = "## 1 Before\n\nThe battery is charged first.\n\n## 2 Landing\n\nThe drone comes down slowly. It stops by itself.\n"
    files = {"lease.txt": LEASE, "manual.md": f"# Kestrel Drone Manual\n\n{parts}"}
    await said_of(
        tmp_path,
        files,
        {
            "What is section 2 of the lease about?": "The roof is kept in repair",
            "Summarise section 3 of the lease": "The yearly fee is 12 pounds [1]. It is due in March",
            "Explain section 2 of the Kestrel Drone Manual": "The drone comes down slowly",
            "Describe landing in the Kestrel Drone Manual": "It stops by itself",
            "Tell me about repairs in the lease": "The landlord pays for the drains",
            "Summarise section 9 of the lease": None,
            "Explain section 3 of the Kestrel Drone Manual": None,
            "Tell me about the garden in the lease": None,
        },
    )
