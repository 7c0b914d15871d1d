"""The manifest and the label: every word known, nothing assumed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.english.dates import long_date
from retrieval.errors import IngestError, LabelMissing, ManifestError
from retrieval.ingest.label import visibility_of
from retrieval.ingest.manifest import read_manifest
from retrieval.ingest.records.templates import compile_template, number, slug
from retrieval.ingest.sources import sources_of
from retrieval.ingest.values import Access, SourceSpec
from tests.shipped_terms import shipped_terms

HEAD = '[[source]]\npath = "a.csv"\nsource_id = "a"\ntitle = "A"\nlicense = "CC0"\n'
ENTITY = '[[source.table.entity]]\nrole = "place"\ntype = "county"\nid = "county:{f}"\nname = "{n}"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "manifest.toml"
    path.write_text(text)
    return path


BAD = {
    "no toml": ("source = [", "manifest.toml: "),
    "no source": ("", "it lists no source"),
    "source is no list": ('source = "a"', "must be a list of tables"),
    "unknown key at the top": ("sources = []\n" + HEAD, "unknown key sources"),
    "unknown key": (HEAD + 'lable = "public"\n', "source a: unknown key lable"),
    "no licence": (HEAD.replace('license = "CC0"\n', ""), "source a: license is missing"),
    "empty title": (HEAD.replace('"A"', '""'), "source a: title is missing or empty"),
    "label is a list": (HEAD + 'label = ["public"]\n', "source a: label must be a text"),
    "groups is a text": (HEAD + 'groups = "archivists"\n', "source a: groups must be a list"),
    "group is a number": (HEAD + "groups = [1]\n", "source a: groups must be a list of texts"),
    **{
        f"address {address}": (HEAD + f"uri = {address!r}\n", "source a: uri must be an http or https address")
        for address in ("javascript:alert(1)", "data:text/html,x", "ftp://a.example/b", "//a.example", "/b", "https://")
    },
    "bad source id": (HEAD.replace('"a"\n', '"A b"\n'), "source_id must be"),
    "source id of a path": (HEAD.replace('source_id = "a"', 'source_id = "../a"'), "source_id must be"),
    "twice": (HEAD + HEAD, "source_id a occurs twice"),
    "date as text": (HEAD + 'valid_until = "2031-01-01"\n', "valid_until must be a date"),
    "date with time": (HEAD + "valid_until = 2031-01-01T00:00:00Z\n", "valid_until must be a date"),
    "reversed": (HEAD + "valid_from = 2031-01-02\nvalid_until = 2031-01-01\n", "valid_until is before valid_from"),
    "bad pattern": (HEAD + 'skip = ["("]\n', "is not a regular expression"),
    "table is a text": (HEAD + 'table = "x"\n', "source a.table: a table is expected"),
    "unknown in the table": (HEAD + '[source.table]\nstatment = "x"\n', "unknown key statment"),
    "open brace": (HEAD + '[source.table]\nstatement = "{a"\n', "a brace is left open"),
    "unknown filter": (HEAD + '[source.table]\nstatement = "{a|upper}"\n', "unknown filter 'upper'"),
    "point of three": (HEAD + '[source.table]\npoint = ["a", "b", "c"]\n', "point must name"),
    "role without entity": (
        HEAD + ENTITY + '[[source.table.relation]]\nsubject = "town"\npredicate = "in"\nobject = "place"\n',
        "no entity has the role town",
    ),
    "relation to nothing": (HEAD + ENTITY + '[[source.table.relation]]\nsubject = "place"\npredicate = "in"\n', "an object or a time"),
    "observation without unit": (HEAD + ENTITY + '[source.table.observation]\nplace = "place"\nmeasure = "m"\n', "unit is missing"),
    "lookup without key": (HEAD + '[[source.table.derive]]\nname = "x"\nfrom = "{f}"\nlookup = { path = "b.csv" }\n', "exactly path, key and value"),
    "lookup elsewhere": (
        HEAD + '[[source.table.derive]]\nname = "x"\nfrom = "{f}"\nlookup = { path = "b.csv", key = "k", value = "v" }\n',
        "same access",
    ),
    "lookup of another label": (
        HEAD
        + 'label = "public"\n[[source.table.derive]]\nname = "x"\nfrom = "{f}"\nlookup = { path = "b.csv", key = "k", value = "v" }\n'
        + HEAD.replace('"a', '"b').replace('"A"', '"B"')
        + 'label = "restricted"\n',
        "same access",
    ),
    "a field of ours": (HEAD + "declared = true\n", "source a: unknown key declared"),
    "a field of ours, nested": (HEAD + 'access = { label = "public" }\n', "source a: unknown key access"),
    "a field by our name": (HEAD + "valid_from_ms = 1\n", "source a: unknown key valid_from_ms"),
    "a table for a list": (HEAD + '[source.table.entity]\nrole = "place"\n', "source a.table: entity must be a list of tables"),
    "a text among tables": (HEAD + '[source.table]\nentity = ["x"]\n', "source a.table.entity[0]: a table is expected"),
    "unknown deep down": (HEAD + ENTITY + "colour = 1\n", "source a.table.entity[0]: unknown key colour"),
    "missing deep down": (HEAD + '[[source.table.derive]]\nname = "x"\n', "source a.table.derive[0]: from is missing"),
    "unknown in features": (HEAD + '[source.features]\nstatment = "x"\n', "source a.features: unknown key statment"),
    "lookup is a text": (HEAD + '[[source.table.derive]]\nname = "x"\nfrom = "{f}"\nlookup = "b"\n', "derive[0]: lookup must be a table"),
    "source is a number": ("source = [1]\n", "manifest.toml.source[0]: a table is expected"),
    "collection without title": ('[[collection]]\nname = "kansas"\n' + HEAD, "title is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_manifest_names_entry_and_field(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    with pytest.raises(ManifestError) as caught:
        read_manifest(written(tmp_path, text))
    assert message in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_manifest_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot be read"):
        read_manifest(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"a = 'caf\xe9'")
    with pytest.raises(ManifestError):
        read_manifest(tmp_path / "latin.toml")


def test_dates_are_whole_days_in_utc(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + "valid_from = 1970-01-02\nvalid_until = 1970-01-02\n")
    (source,) = read_manifest(path).sources
    assert (source.valid_from_ms, source.valid_until_ms) == (86_400_000, 2 * 86_400_000 - 1)


def source(label: str | None = None, **access: object) -> SourceSpec:
    return SourceSpec(Path("a"), "a", "A", access=Access(label=label, **access))  # type: ignore[arg-type]


def test_the_narrowest_word_on_a_label_wins() -> None:
    def label(stated: str | None, option: str | None, default: dict[str, str]) -> str:
        terms = replace(shipped_terms(), default_labels=default)
        return visibility_of(source(stated), tenant="t", collection="c", label=option, terms=terms).label

    assert label("restricted", "public", {"c": "internal"}) == "restricted"
    assert label(None, "confidential", {"c": "internal"}) == "confidential"
    assert label(None, None, {"c": "internal"}) == "internal"


@pytest.mark.parametrize(
    ("spec", "collection", "label", "error"),
    [
        (source(), "c", None, LabelMissing),
        (source(""), "c", None, LabelMissing),
        (source("Public"), "c", None, ManifestError),
        (source("secret"), "c", None, ManifestError),
        (source(), "c", "open", ManifestError),
        (source("public", handling=("private",)), "c", None, ManifestError),
        (source("public"), "Kansas!", None, ManifestError),
        (source("public"), "", None, ManifestError),
    ],
)
def test_a_label_is_never_assumed(
    spec: SourceSpec, collection: str | None, label: str | None, error: type[IngestError]
) -> None:
    with pytest.raises(error):
        visibility_of(spec, tenant="t", collection=collection, label=label, terms=shipped_terms())


@pytest.mark.parametrize("name", ["gone.txt", "one.txt/below", "n" * 300, "loop", "pipe"])
def test_a_path_of_nothing_is_no_source(tmp_path: Path, name: str) -> None:
    (tmp_path / "one.txt").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ManifestError, match=r"^cannot be read: [^,]+ \([^)]+\)$"):
        sources_of([tmp_path / "one.txt", tmp_path / name], None)


def test_files_without_a_manifest_name_themselves(tmp_path: Path) -> None:
    for name in ("b/Two words.md", "b/.hidden.md", "b/picture.png", "b/deep/er.csv", "one.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    sources, _ = sources_of([tmp_path / "b", tmp_path / "one.txt"], None)
    assert [s.source_id for s in sources] == [
        "b.two-words.md",
        "b.deep.er.csv",
        "b.picture.png",
        "one.txt",
    ]
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "one.txt").write_text("y")
    with pytest.raises(ManifestError, match=r"would both be source one\.txt"):
        sources_of([tmp_path / "one.txt", tmp_path / "c" / "one.txt"], None)


def test_templates() -> None:
    say = compile_template("The {nation} signed[ ({cite})][ on {day|date}].")
    assert (
        say({"nation": "Kansa", "cite": "9 Stat. 1", "day": "1846-01-14"})
        == "The Kansa signed (9 Stat. 1) on January 14, 1846."
    )
    assert say({"nation": "Kansa"}) == "The Kansa signed."
    assert say({"cite": "x"}) == ""
    assert compile_template("{a}")({"a": "{b}", "b": "no"}) == "{b}"
    assert (slug("Sac & Fox — O'Neil"), number("-1234567.50"), number("n/a")) == (
        "sac-fox-oneil",
        "-1,234,567.50",
        "n/a",
    )
    assert long_date("1850") == "1850"


@given(st.text(st.sampled_from("{}[]|abé "), max_size=20))
@settings(max_examples=100)
def test_any_template_compiles_or_is_refused(template: str) -> None:
    try:
        render = compile_template(template)
    except ManifestError:
        return
    assert isinstance(render({"a": "x", "b": ""}), str)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "in/../../secret.txt", "{root}/secret.txt", "link.txt", "linked/secret.txt"]
)
def test_a_manifest_that_was_found_leads_nowhere_else_and_one_that_was_named_may(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("x")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "linked").symlink_to(tmp_path)
    stated = path.format(root=tmp_path)
    listing = folder / "manifest.toml"
    listing.write_text(f'[[source]]\npath = "{stated}"\nsource_id = "a"\ntitle = "A"\nlicense = "MIT"\n')
    with pytest.raises(ManifestError, match=r"source a: .* lies outside the folder of the manifest"):
        sources_of([folder], None)
    for named in (([listing], None), ([], listing)):
        (source,) = sources_of(*named)[0]
        assert source.path.resolve() == tmp_path / "secret.txt"


@pytest.mark.parametrize("path", ["a.txt", "in/../a.txt", "./a.txt", "inner.txt"])
def test_a_manifest_that_was_found_names_what_is_beside_it(path: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "inner.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "manifest.toml").write_text(
        f'[[source]]\npath = "{path}"\nsource_id = "a"\ntitle = "A"\nlicense = "MIT"\n'
    )
    assert [source.source_id for source in sources_of([tmp_path], None)[0]] == ["a"]
