"""Files that are made to hurt whoever reads them, by name. Each is small to make, and most are small on disk."""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from tests.geopackage_maker import geopackage_of
from tests.office_maker import docx_of, packed, paragraph, xlsx_of
from tests.pdf_maker import pdf_of_objects

_MANY = 30_000
_LAUGHS = (
    "<!DOCTYPE l [<!ENTITY l0 'lol'>" + "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 12)) + "]>"
)
_BLOWUP = f"<!DOCTYPE l [<!ENTITY l11 '{'a' * 50_000}'>]>"
_FILE = "<!DOCTYPE l [<!ENTITY l11 SYSTEM 'file:///etc/passwd'>]>"
_DTD = "<!DOCTYPE l SYSTEM 'http://127.0.0.1:9/x.dtd'>"


def hostile_files() -> Mapping[str, bytes]:
    """Every file by its name."""
    made: dict[str, bytes] = {}
    for kind, make in _KINDS.items():
        made |= {f"{name}.{kind}": data for name, data in make().items()}
    return made


def _html() -> Mapping[str, bytes]:
    pages = {
        "div": "<div>" * 100_000,
        "bold": "<b>" * _MANY + "x",
        "font": "".join(f"<font size={n}>" for n in range(5_000)) + "<p>x" * 5_000,
        "links": "<a href=x>y" * _MANY,
        "tables": "<table><tr><td>" * _MANY,
        "select": "<select><option>" * _MANY,
        "svg": "<svg><g>" * _MANY,
        "closers": "</p>" * 100_000,
        "attributes": "<p " + " ".join(f"a{n}=1" for n in range(_MANY)) + ">x",
        "attribute": f"<p title='{'x' * 1_000_000}'>x",
        "entities": "&amp;" * 100_000,
        "comment": "x<!--" + "-" * 2_000_000,
        "line": "word " * 100_000,
        "plaintext": "<plaintext>" + "<b>" * 50_000,
        "templates": "<template>" * _MANY,
        "quotes": "<blockquote>" * 999 + "x",
    }
    return {name: page.encode() for name, page in pages.items()}


def _xml(entity: str, body: str, space: str) -> str:
    return f"<?xml version='1.0'?>{entity}<w:document xmlns:w='{space}'><w:body>{body}</w:body></w:document>"


def _docx() -> Mapping[str, bytes]:
    whole = dict(_unpacked(docx_of(paragraph("x"))))
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

    def with_body(document: str | bytes) -> bytes:
        return packed({**whole, "word/document.xml": document})

    laugh = "<w:p><w:r><w:t>" + "&l11;" * 1_000 + "</w:t></w:r></w:p>"
    return {
        "bomb": with_body(b"<a>" + b" " * 30_000_000),
        "deep": with_body(_xml("", "<w:p>" * _MANY, space)),
        "laughs": with_body(_xml(_LAUGHS, laugh, space)),
        "blowup": with_body(_xml(_BLOWUP, laugh, space)),
        "external": with_body(_xml(_FILE, laugh, space)),
        "dtd": with_body(_xml(_DTD, laugh, space)),
        "tables": with_body(_xml("", "<w:tbl><w:tr><w:tc>" * 5_000 + "</w:tc></w:tr></w:tbl>" * 5_000, space)),
        "runs": with_body(_xml("", "<w:p><w:r/></w:p>" * 100_000, space)),
        "entries": packed({**whole, **{f"word/x{n}.xml": b"" for n in range(1_000)}}),
        "paths": packed({**whole, "../../../../tmp/planted.xml": b"x", "word/document.xml": b""}),
        "short": docx_of(paragraph("x"))[:-30],
        "lies": docx_of(*(paragraph("x" * 1_000) for _ in range(500))).replace(b"\x00\x00word", b"\xff\xffword"),
    }


def _xlsx() -> Mapping[str, bytes]:
    book = xlsx_of({"S": [["name", "1930"], ["Shawnee", "85200"]]})
    parts = dict(_unpacked(book))
    sheet = next(name for name in parts if "sheet1" in name and "rels" not in name)
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'

    def with_rows(rows: str, entity: str = "") -> bytes:
        return packed({**parts, sheet: f"<?xml version='1.0'?>{entity}{head}{rows}</sheetData></worksheet>"})

    def cell(place: str, text: str, kind: str = "str") -> str:
        return f'<c r="{place}" t="{kind}"><v>{text}</v></c>'

    return {
        "bomb": packed({**parts, "xl/sharedStrings.xml": b"<sst>" + b" " * 140_000_000}),
        "far": with_rows(f'<row r="1048576">{cell("XFD1048576", "x")}</row>'),
        "beyond": with_rows(f'<row r="1000000000000">{cell("A1000000000000", "x")}</row>'),
        "laughs": with_rows(f'<row r="1">{cell("A1", "&l11;" * 100)}</row>', _LAUGHS),
        "blowup": with_rows(f'<row r="1">{cell("A1", "&l11;" * 10_000)}</row>', _BLOWUP),
        "digits": with_rows(f'<row r="1">{cell("A1", "9" * 5_000, "n")}</row>'),
        "deep": with_rows("<row>" * _MANY),
        "string": with_rows(f'<row r="1">{cell("A1", "99999999", "s")}</row>'),
        "negative": with_rows(f'<row r="-5">{cell("A-5", "-1", "s")}</row>'),
        "date": with_rows('<row r="1"><c r="A1" s="999999"><v>1e308</v></c></row>'),
        "wide": xlsx_of({"S": [[str(n) for n in range(5_000)]]}),
        "short": book[: len(book) // 2],
    }


def _unpacked(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed_file:
        return [(each, packed_file.read(each)) for each in packed_file.namelist()]


def _csv() -> Mapping[str, bytes]:
    tables = {
        "digits": f"name,1930\nShawnee,{'9' * 5_000}\n",
        "columns": ",".join(f"c{n}" for n in range(20_000)) + "\n" + ",".join("x" * 20_000) + "\n",
        "open": 'name,note\nx,"' + "y,\n" * 100_000,
        "quotes": 'name,note\nx,"' + '""' * 100_000 + '"\n',
        "line": "name,note\nx," + "y" * 1_000_000 + "\n",
        "header": "name,1930\n",
        "twice": "name,name,1930\nx,y,1\n",
        "ragged": "name,1930\n" + "x\n" * _MANY,
        "nul": "name,1930\nx\x00,1\n",
        "years": ",".join(["name", *map(str, range(1000, 2100))])
        + "\n"
        + "\n".join(",".join([f"n{row}", *["1"] * 1100]) for row in range(1_500)),
    }
    return {name: table.encode() for name, table in tables.items()}


def _geojson() -> Mapping[str, bytes]:
    def features(*each: str) -> str:
        return f'{{"type": "FeatureCollection", "features": [{", ".join(each)}]}}'

    def feature(geometry: str, properties: str = '{"name": "x"}', more: str = "") -> str:
        return f'{{"type": "Feature"{more}, "properties": {properties}, "geometry": {geometry}}}'

    def point(x: str, y: str = "1") -> str:
        return f'{{"type": "Point", "coordinates": [{x}, {y}]}}'

    ring = [[(n * 7_919) % 180, (n * 104_729) % 90] for n in range(20_000)]
    nested = '{"type": "GeometryCollection", "geometries": ['
    maps = {
        "arrays": features(feature(f'{{"type": "Polygon", "coordinates": {"[" * _MANY}{"]" * _MANY}}}')),
        "objects": features(feature("null", '{"a":' * _MANY + "1" + "}" * _MANY)),
        "root": "[" * 1_000_000,
        "collections": features(feature(nested * 400 + point("1") + "]}" * 400)),
        "digits": features(feature(point("1" * 5_000))),
        "infinite": features(feature(point("1e400"))),
        "nan": features(feature(point("NaN"))),
        "far": features(feature(point("1e308"))),
        "words": features(feature(point('"x"'))),
        "ring": features(feature(json.dumps({"type": "Polygon", "coordinates": [[*ring, ring[0]]]}))),
        "ids": features(*(feature(point("1"), more=', "id": 1') for _ in range(1_000))),
        "half": features(feature(point("1"), r'{"name": "\ud800"}')),
        "members": "{" + ",".join(f'"k{n}": 1' for n in range(_MANY)) + "}",
        "short": features(feature(point("1")))[:-9],
    }
    return {name: text.encode() for name, text in maps.items()}


def _pdf() -> Mapping[str, bytes]:
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << %b >> >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    plain = b"BT /F1 12 Tf 72 720 Td (x) Tj ET"

    def stream(content: bytes, entries: bytes = b"") -> bytes:
        return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), entries, content)

    def deflated(content: bytes, times: int = 1) -> bytes:
        for _ in range(times):
            content = zlib.compress(content, 9)
        return stream(content, b"/Filter [" + b"/FlateDecode " * times + b"]")

    def with_content(content: bytes, *more: bytes, resources: bytes = b"/Font << /F1 5 0 R >>") -> bytes:
        return pdf_of_objects(catalog, pages, page % resources, content, font, *more)

    image = b"/Type /XObject /Subtype /Image /Width 2000000 /Height 2000000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>"
    drawn = b"/Font << /F1 5 0 R >> /XObject << /X 6 0 R >>"
    whole = with_content(stream(plain))
    return {
        "count": pdf_of_objects(catalog, pages.replace(b"/Count 1", b"/Count 2000000000")),
        "cycle": pdf_of_objects(catalog, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"),
        "deep": pdf_of_objects(catalog, *(b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % n for n in range(3, 3_000))),
        "bomb": with_content(deflated(b"BT (x) Tj ET " * 5_000_000)),
        "blank": with_content(deflated(b" " * 100_000_000)),
        "twice": with_content(deflated(b"\x00" * 50_000_000, 2)),
        "text": with_content(deflated(b"BT /F1 1 Tf " + b"(%b) Tj " % (b"x" * 1_000) * 20_000 + b" ET")),
        "image": with_content(stream(plain + b" /X Do"), stream(b"x", image), resources=drawn),
        "form": with_content(stream(plain + b" /X Do"), stream(b"/X Do /X Do", form), resources=drawn),
        "saves": with_content(deflated(b"q " * 5_000_000)),
        "arrays": with_content(stream(b"[" * 100_000)),
        "box": with_content(stream(plain)).replace(b"612 792", b"9e9 9e9"),
        "short": whole[: len(whole) // 2],
        "garbage": b"%PDF-1.7\n" + bytes(range(256)) * 1_000,
        "xref": whole.replace(b"startxref\n", b"startxref\n9999999999"),
        "length": with_content(stream(plain).replace(b"/Length 32", b"/Length 2000000000")),
    }


def _gpkg() -> Mapping[str, bytes]:
    rows = {"places": [({"name": "x"}, _wkb(struct.pack("<BI2d", 1, 1, 1, 1)))]}
    nested = struct.pack("<BII", 1, 7, 1) * 50_000 + struct.pack("<BI2d", 1, 1, 1, 1)
    endless = (
        "DROP TABLE places; CREATE VIEW places AS WITH RECURSIVE c(fid) AS (SELECT 1 UNION ALL SELECT fid + 1 FROM c)"
        " SELECT fid, NULL AS geom FROM c;"
    )
    whole = geopackage_of(rows)
    return {
        "endless": geopackage_of(rows, more=endless),
        "nested": geopackage_of({"places": [({"name": "x"}, _wkb(nested))]}),
        "count": geopackage_of({"places": [({"name": "x"}, _wkb(struct.pack("<BII", 1, 2, 2**32 - 1)))]}),
        "blob": geopackage_of(rows, more="UPDATE places SET name = hex(zeroblob(1000000));"),
        "short": whole[: len(whole) // 2],
        "garbage": b"SQLite format 3\x00" + b"\xff" * 100_000,
        "empty": _empty_database(),
    }


def _wkb(shape: bytes) -> bytes:
    return b"GP\x00\x01" + struct.pack("<i", 4326) + shape


def _empty_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute("CREATE TABLE t (a)")
        return made.serialize()


def _md() -> Mapping[str, bytes]:
    texts = {
        "quotes": "> " * 50_000 + "x",
        "brackets": "[" * 12_000,
        "images": "![" * 12_000,
        "lists": "\n".join("  " * n + "- x" for n in range(700)),
        "stars": "*a **b " * 5_000,
        "ticks": " ".join("`" * n for n in range(600)),
        "table": "|a" * 500 + "|\n" + "|-" * 500 + "|\n" + "|x|\n" * 100,
        "line": "word " * 100_000,
        "references": "\n".join(f"[a{n}]: x" for n in range(3_000)) + "\n" + "[a1]" * 1_000,
    }
    return {name: text.encode() for name, text in texts.items()}


def _txt() -> Mapping[str, bytes]:
    return {
        "line": b"x" * 1_000_000,
        "blanks": b" " * 1_000_000 + b"x",
        "lines": b"\n" * 500_000 + b"x",
        "dates": b"May 30, 1854 " * 10_000,
        "ends": b". A" * 50_000,
        "control": b"x\x01y",
        "wide": "Topeka".encode("utf-16"),
        "binary": bytes(range(256)) * 100,
        "marks": "e\u0301\u0301\u0301".encode() * 50_000,
    }


_KINDS: Mapping[str, Callable[[], Mapping[str, bytes]]] = {
    "html": _html,
    "docx": _docx,
    "xlsx": _xlsx,
    "csv": _csv,
    "geojson": _geojson,
    "pdf": _pdf,
    "gpkg": _gpkg,
    "md": _md,
    "txt": _txt,
}


def write_hostile(folder: Path) -> int:
    """Writes all of them; how many there are."""
    files = hostile_files()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return len(files)
