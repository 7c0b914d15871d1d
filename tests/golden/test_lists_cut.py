"""Lists: a computed one is whole, or says how many more there are; one of rows says that it may be cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import ask, ingest, opened

YARDS = ("North Yard", "South Yard")


def names(n: int) -> list[str]:
    return [f"{one}{two}" for one in ("Am", "Bel", "Cor", "Dun", "El") for two in ("ber", "dor", "fax", "mira", "wyn")][
        :n
    ]


@pytest.mark.parametrize("n", [3, 8, 12, 20, 24])
async def test_a_list_is_whole_or_says_how_much_it_leaves(n: int, tmp_path: Path) -> None:
    rows = [f"{name},{YARDS[0]},{14 + at % 3}" for at, name in enumerate(names(n))]
    (tmp_path / "horses.csv").write_text("\n".join(("Horse,Yard,Height (hands)", *rows, f"Zoe,{YARDS[1]},15", "")))
    await ingest(tmp_path / "home", paths=[tmp_path / "horses.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        for question in (f"List all horses in {YARDS[0]}", f"Which horses are in {YARDS[0]}?"):
            body = await ask(system, question)
            told = [name for name in names(n) if name in body["answer"]]
            assert body["answer"].startswith(f"{n} horses in {YARDS[0]}"), body["answer"]
            assert len(told) == min(n, 20) and "Zoe" not in body["answer"], body["answer"]
            assert n <= 20 or f"and {n - 20} more" in body["answer"], body["answer"]


@pytest.mark.parametrize("n", [3, 12])
async def test_rows_that_may_not_be_all_say_so(n: int, tmp_path: Path) -> None:
    rows = [f"{name},{YARDS[0]},{name}son" for name in names(n)]  # no figure: nothing is computed
    (tmp_path / "horses.csv").write_text("\n".join(("Horse,Yard,Rider", *rows, f"Zoe,{YARDS[1]},Ann", "")))
    await ingest(tmp_path / "home", paths=[tmp_path / "horses.csv"], label="public")
    async with opened(tmp_path / "home") as system:
        body = await ask(system, f"List all horses in {YARDS[0]}")
        codes = {each["code"] for each in body["limitations"]}
        assert body["outcome"] == "ANSWER" and ("LIST_CUT" in codes) is (n > 8), (body["answer"], codes)
