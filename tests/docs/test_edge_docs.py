"""The guides of the edge are run: every command and every request in them, and every setting is named."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.cli.main import COMMANDS, run
from api.home.configuration import load
from api.home.identity.oidc.settings import Oidc
from api.home.settings import ENVIRONMENT_NAMES
from api.http.app import create_app
from api.problems import MEANINGS
from api.wiring import open_ingest
from retrieval import errors
from tests.command_line import without_settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@dataclass
class Example:
    """A command, its exit code and the lines that its output must hold."""

    command: list[str]
    exit: int
    shows: list[str]


def console_examples(text: str) -> Iterator[Example]:
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        found: Example | None = None
        for line in block.splitlines():
            if line.startswith("$ exhibit "):
                if found:
                    yield found
                words = re.findall(r'"([^"]*)"|(\S+)', line.removeprefix("$ exhibit "))
                found = Example([quoted or plain for quoted, plain in words], 0, [])
            elif found and (code := re.fullmatch(r"\[exit (\d+)\]", line)):
                found.exit = int(code[1])
            elif found:
                found.shows.append(line)
        if found:
            yield found


def test_every_command_of_the_guide_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_settings(monkeypatch)
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("EXHIBIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    entry = "none yet"
    examples = list(console_examples((DOCS / "cli.md").read_text("utf-8")))
    assert len(examples) > 15
    for example in examples:
        places = {"ENTRY": entry, "EXPORT": str(tmp_path / "export"), "WITNESS": str(tmp_path / "witness")}
        places["TILES"] = str(tmp_path / "counties.pmtiles")
        code = run([places.get(word, word) for word in example.command])
        out, err = capsys.readouterr()
        assert code == example.exit, (example.command, out, err)
        for line in example.shows:
            assert line in out + err, (example.command, line, out, err)
        if found := re.search(r"exhibit ledger proof (\S+)", out):
            entry = found[1]


def test_the_guide_names_every_command_and_exit_code() -> None:
    text = (DOCS / "cli.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"exhibit {name}" in text, name
    for code in {meaning.exit for meaning in MEANINGS.values()} | {0, 6, 7}:
        assert f"\n| {code} | " in text


def test_every_setting_is_named_with_its_default() -> None:
    text = (DOCS / "configuration.md").read_text("utf-8")
    for setting in load({}).shown():
        if setting.name == "home":
            continue
        default = "" if setting.value is None else f"`{setting.value}`"
        assert f"\n| `{setting.name}` | {default} | " in text, setting.name
    table = text.split("## Settings")[1].split("## ")[0]
    named = set(re.findall(r"^\| `([a-z_]+\.[a-z0-9_.]+)` \| ", table, re.MULTILINE))
    assert named == {setting.name for setting in load({}).shown()} - {"home"}
    for variable, name in ENVIRONMENT_NAMES.items():
        assert f"| `{variable}` | `{name}` |" in text


def test_the_settings_file_of_the_guide_is_valid(tmp_path: Path) -> None:
    [block] = re.findall(r"```toml\n(.*?)```", (DOCS / "configuration.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "exhibit.toml").write_text(block)
    assert load({}, home=tmp_path).settings.retrieval.weight_milli.graph == 1_200


def test_every_code_of_the_guide_is_told_with_its_status() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    for codes, status in re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \| (\d{3}) \|", text, re.MULTILINE):
        for code in re.findall(r"[A-Z_]+", codes):
            assert MEANINGS[code].status == int(status)
    for code in MEANINGS:
        assert f"`{code}`" in text, code


def limitations() -> set[str]:
    """The codes of every limitation that is made anywhere."""
    of_channels = (errors.ChannelError, errors.EmbedModelMismatch, errors.IndexNotReady)
    found = {each.code for each in vars(errors).values() if isinstance(each, type) and issubclass(each, of_channels)}
    for file in [*(ROOT / "ai").rglob("*.py"), *(ROOT / "retrieval").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Limitation"), args=[ast.Constant(value=str(code)), *_]):
                    found.add(code)
    return found


def test_every_limitation_is_in_the_guide() -> None:
    text = (DOCS / "api.md").read_text("utf-8")
    assert len(found := limitations()) > 10
    assert [code for code in sorted(found) if f"`{code}`" not in text] == []


def matches(expected: Any, found: Any) -> bool:
    """Whether everything that is expected is there; `…` stands for anything, and lists agree on what is written."""
    if expected == "…":
        return found is not None
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and matches(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        if not expected:
            return found == []
        return isinstance(found, list) and all(any(matches(each, item) for item in found) for each in expected)
    return bool(expected == found)


async def test_every_request_of_the_guide_is_answered_as_written(tmp_path: Path) -> None:
    configuration = load({}, home=tmp_path / "home")
    async with open_ingest(configuration) as ingest:
        await ingest.run([], tenant="default", manifest=ROOT / "examples" / "kansas" / "manifest.toml")
    guides = [(DOCS / name).read_text("utf-8") for name in ("api.md", "map-ui.md")]
    blocks = [block for text in guides for block in re.findall(r"```(http|json)\n(.*?)```", text, re.DOTALL)]
    requests = [blocks[n : n + 2] for n in range(0, len(blocks), 2)]
    assert len(requests) > 6
    app = create_app(configuration)
    last: dict[str, Any] = {}
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for (kind, request), (answer_kind, expected) in requests:
                assert (kind, answer_kind) == ("http", "json")
                head, _, content = request.partition("\n\n")
                method, path = head.splitlines()[0].split(" ", 1)
                for name in re.findall(r"\{([\w.]+)\}", path):
                    path = path.replace(f"{{{name}}}", _walk(last, name))
                headers = dict(line.split(": ", 1) for line in head.splitlines()[1:])
                response = await client.request(method, path, content=content.strip(), headers=headers)
                assert matches(json.loads(expected), response.json()), (path, response.text)
                if "citations" in response.json() and response.json()["citations"]:
                    last = response.json()


def _walk(document: Any, path: str) -> str:
    """`citations.1.href` in a document."""
    for key in path.split("."):
        document = document[key]
    return str(document)


def test_every_setting_of_an_identity_provider_is_named_with_its_default() -> None:
    text = (DOCS / "configuration.md").read_text("utf-8")
    for name, field in Oidc.model_fields.items():
        default = "" if field.is_required() or field.default is None else f"`{field.default}`"
        assert f"\n| `server.oidc.{name}` | {default} | {field.description} |\n" in text, name
