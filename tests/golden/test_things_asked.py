"""The thing, place or person that is asked for, asked through the whole product; beside each near miss its true twin."""

from __future__ import annotations

from pathlib import Path

from tests.harness import ask, ingest, opened

MUSEUM = """The Corran Museum: what happened in 2023

Twelve volunteers and four guides work in the galleries. During the heat wave in July nine people fainted; all were
treated by the first-aiders. The textile gallery was reopened on 3 May by the mayor, Ines Calder. The curator of coins,
Dr Paul Winter, retired in October. His assistant, Marta Kell, now works at Dunmore.

Group tickets cost £4 a head. Annual tickets are sold at the desk only and cost £35. The roof over the west wing still
leaks. The sale of postcards raised £900 for new showcases.
"""
COURT = """The Brill trial: what the court heard

The accused, Anton Brill, a locksmith, was arrested in Vienna on 4 March. Mrs Moser had hidden a bag in her garden. The
bag was a metre long and lay beside a well. Brill was defended by a young lawyer, Dr Kern. Of the eleven jurors and six
witnesses, three people asked to be excused. Brill will appeal to reduce his sentence.
"""
FARM = """Letter from Hollin Farm

My uncle Ralph drove the tractor until he was eighty. My cousin Beth, who studied in Leeds, has taken over the accounts.
Milk is collected every second day. Eggs are fetched by the baker. The apprentice, Sam Reed, starts in May; his brother
Luke worked here in 2020. The violins rehearse in the barn and the flutes in the dairy.
"""
ASKED = (
    ("How many guides fainted in July?", None),
    ("How many people fainted in July?", "nine people"),
    ("Where does Dr Winter work now?", None),
    ("Where does Marta Kell work now?", "Dunmore"),
    ("How much do annual tickets cost a head?", "£35"),
    ("How much do group tickets cost?", "£4"),
    ("How much did the postcards raise for the roof?", None),
    ("How much did the sale of postcards raise for new showcases?", "£900"),
    ("How long was the well?", None),
    ("How long was the bag?", "a metre"),
    ("Who defended Mrs Moser?", None),
    ("Who defended Brill?", "Dr Kern"),
    ("How many witnesses asked to be excused?", None),
    ("How many people asked to be excused?", "three people"),
    ("Who reduced his sentence?", None),
    ("Where did Ralph study?", None),
    ("Where did Beth study?", "Leeds"),
    ("Who fetches the milk?", None),
    ("Who fetches the eggs?", "baker"),
    ("When did Sam Reed work here?", None),
    ("When did Luke work here?", "2020"),
    ("Where do the horns rehearse?", None),
    ("Where do the flutes rehearse?", "dairy"),
)


async def test_another_does_not_answer_for_the_one_that_is_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in (("museum.txt", MUSEUM), ("court.txt", COURT), ("farm.txt", FARM)):
        (folder / name).write_text(text, encoding="utf-8")
    await ingest(tmp_path / "home", paths=[folder], label="public")
    wrong = []
    async with opened(tmp_path / "home") as system:
        for question, due in ASKED:
            body = await ask(system, question)
            answer = body["answer"] if body["outcome"] == "ANSWER" else ""
            if (due is None and answer) or (due is not None and due not in answer):
                wrong.append((question, due, answer))
    assert wrong == []
