"""Small files as people have them: manuals of tools, pages of data, price lists, handbooks; beside each question its
twin of another thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_lines_asked import said_of

SIGNS = ("*.log", "__init__.py", "*_test.py", "**/*.tmp", "%Y-%m-%d_%H%M%S", "[^a-z]*")
DATA = {"Weight": "4.1 kg", "Width": "31 cm", "Noise level": "72 dB", "Dirty-water tank": "500 ml"}
PAIRS = {
    "table": "<table>{}</table>|<tr><th>{}</th><td>{}</td></tr>",
    "table of scopes": "<table><tbody>{}</tbody></table>|<tr><th scope='row'>{}:</th><td><p>{}</p></td></tr>",
    "list": "<dl>{}</dl>|<dt>{}</dt>\n<!-- as measured --><dd>{}</dd>",
}


@pytest.mark.parametrize("sign", SIGNS)
async def test_code_is_quoted_with_its_own_signs(tmp_path: Path, sign: str) -> None:
    rows = "| Option | Meaning |\n|---|---|\n| `--skip` | The *pattern* of files, `{}` by default |\n"
    text = f"# rotlog\n\n{rows.format(sign)}\n## Nights\n\nEvery night **rotlog** packs files that match `{sign}`.\n"
    await said_of(
        tmp_path,
        {"rotlog.md": text},
        {
            "What does --skip mean?": f"The pattern of files, {sign} by default",
            "What does rotlog pack every night?": f"Every night rotlog packs files that match `{sign}`",
        },
    )


@pytest.mark.parametrize("form", PAIRS)
async def test_pages_that_set_labels_beside_what_they_say(tmp_path: Path, form: str) -> None:
    around, pair = PAIRS[form].split("|")
    pairs = "".join(pair.format(*each) for each in DATA.items())
    page = f"<title>Hydra mop</title><h1>Hydra mop</h1><h2>Technical data</h2>{around.format(pairs)}<h2>Care</h2><p>Rinse it well.</p>"
    await said_of(
        tmp_path,
        {"mop.html": page},
        {
            "How heavy is the Hydra mop?": "Weight: 4.1 kg",
            "What is the weight of the Hydra mop?": "Weight: 4.1 kg",
            "How wide is the Hydra mop?": "Width: 31 cm",
            "What is the noise level of the Hydra mop?": "Noise level: 72 dB",
            "How tall is the Hydra mop?": None,
            "What is the weight of the Hydra broom?": None,
            "How heavy is the dirty-water tank?": None,
        },
    )


async def test_how_much_a_thing_is(tmp_path: Path) -> None:
    prices = {"Acer palmatum": "79.00", "Rosa Iceberg": "24.50", "Buxus": "9.80"}
    rows = "".join(f"{name},{price},2\n" for name, price in prices.items())
    questions: dict[str, str | None] = {f"how much is the {name}": f"{price} EUR" for name, price in prices.items()}
    questions |= {
        "How much are the Buxus and the Rosa Iceberg?": "9.80 EUR (Buxus)",
        "How much is the weight of the Buxus?": "2",
        "How much is the Acer rubrum?": None,
        "How much is the Buxus insured for?": None,
    }
    await said_of(tmp_path, {"plants.csv": f"Plant,Price EUR,Weight kg\n{rows}"}, questions)


async def test_whom_to_ask_for_something(tmp_path: Path) -> None:
    text = (
        "# Office handbook\n\nIf you need a key or a parking space, ask Fiona. For a new badge, ask Jon Reed.\n\n"
        "## Kitchen\n\nNever wash the blue cups, or the paint will come off.\n"
    )
    await said_of(
        tmp_path,
        {"handbook.md": text},
        {
            "Who do I ask for a parking space?": "ask Fiona",
            "Who do I ask for a new badge?": "ask Jon Reed",
            "Who do I ask for a company car?": None,
            "Why shouldn't I wash the blue cups?": "the paint will come off",
        },
    )
