"""Files of the kinds that extras read, made to hurt whoever reads them, by name. Most are small on disk."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio.raw
import shapely

from tests.hostile_files import _BLOWUP, _DTD, _FILE, _LAUGHS
from tests.kinds_maker import _OFFICE, epub_of, ods_of, odt_of, odt_paragraph, pptx_of
from tests.office_maker import packed

_MANY = 30_000
_ENTITIES = {"laughs": _LAUGHS, "blowup": _BLOWUP, "external": _FILE, "dtd": _DTD}


@cache
def hostile_kinds() -> Mapping[str, bytes]:
    """Every file by its name."""
    made: dict[str, bytes] = {}
    for kind, make in _KINDS.items():
        made |= {f"{name}.{kind}": data for name, data in make().items()}
    return made


def unpacked(data: bytes) -> dict[str, bytes]:
    """The entries of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {each: file.read(each) for each in file.namelist()}


def _pptx() -> Mapping[str, bytes]:
    whole = pptx_of(("T", ["x"], [["a"]], "n"))
    parts = unpacked(whole)
    slide = "ppt/slides/slide1.xml"
    head, tail = parts[slide].split(b"<p:spTree>")
    group = b"<p:grpSp><p:nvGrpSpPr><p:cNvPr id='9' name='g'/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"

    def with_slide(content: bytes) -> bytes:
        return packed({**parts, slide: content})

    return {
        "bomb": packed({**parts, "ppt/presentation.xml": b"<a>" + b" " * 30_000_000}),
        "media": packed({**parts, "ppt/media/image1.png": b"\x00" * 300_000_000}),
        "groups": with_slide(head + b"<p:spTree>" + group * 5_000 + b"</p:grpSp>" * 5_000 + tail),
        "shapes": with_slide(head + b"<p:spTree>" + (group + b"</p:grpSp>") * 60_000 + tail),
        "deep": with_slide(b"<a>" * _MANY),
        "loop": packed({**parts, "ppt/slides/_rels/slide1.xml.rels": parts["ppt/_rels/presentation.xml.rels"]}),
        "short": whole[: len(whole) // 2],
        "paths": packed({**parts, "../../../tmp/planted": b"x"}),
        **{name: with_slide(head.replace(b"?>", b"?>" + text.encode(), 1) + b"<p:spTree>" + tail.replace(b">x<", b">&l11;<")) for name, text in _ENTITIES.items()},
    }  # fmt: skip


def _odt() -> Mapping[str, bytes]:
    whole = odt_of(odt_paragraph("x"))
    parts = unpacked(whole)

    def with_content(content: str | bytes) -> bytes:
        return packed({**parts, "content.xml": content})

    body = f"<office:document-content {_OFFICE}><office:body><office:text>{{}}</office:text></office:body></office:document-content>"
    return {
        "bomb": with_content(b"<a>" + b" " * 30_000_000),
        "deep": odt_of("<text:p>" * 200 + "<text:span>" * 20_000),
        "sections": odt_of("<text:section>" * 240 + odt_paragraph("x") + "</text:section>" * 240),
        "rows": odt_of("<table:table>" + "<table:table-row/>" * 300_000 + "</table:table>"),
        "spaces": odt_of(f'<text:p>{"<text:s text:c=&quot;99999999&quot;/>".replace("&quot;", chr(34)) * 1_000}x</text:p>'),
        "levels": odt_of('<text:h text:outline-level="99999999999999999999">x</text:h>' * 1_000),
        "nested": packed({**parts, "content.xml": whole}),
        "meta": packed({**parts, "meta.xml": _LAUGHS + "<a>&l11;</a>"}),
        "encrypted": _encrypted(whole),
        **{name: with_content(f"<?xml version='1.0'?>{text}{body.format('<text:p>' + '&l11;' * 1_000 + '</text:p>')}") for name, text in _ENTITIES.items()},
    }  # fmt: skip


def _encrypted(whole: bytes) -> bytes:
    """The same with the flag of encrypted entries set in every header."""
    made = bytearray(whole)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := made.find(mark, at + 1)) >= 0:
            made[at + place] |= 1
    return bytes(made)


def _ods() -> Mapping[str, bytes]:
    def repeated(times: int, rows: int) -> bytes:
        row = f'<table:table-row table:number-rows-repeated="{rows}"><table:table-cell table:number-columns-repeated="{times}" office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
        return ods_of({"S": [["a", "b"], [1, 2]]}, row)

    parts = unpacked(ods_of({"S": [["a", "b"], [1, 2]]}))
    return {
        "columns": repeated(16_384, 1),
        "rows": repeated(2, 1_048_576),
        "both": repeated(16_384, 1_048_576),
        "billions": repeated(4_000_000_000, 4_000_000_000),
        "empty": ods_of({"S": [["a"]]}, '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'),
        "bomb": packed({**parts, "content.xml": b"<a>" + b" " * 140_000_000}),
        "text": ods_of({"S": [["a", "b"], ["x" * 5_000_000, 1]]}),
        "digits": ods_of({"S": [["county", "1900"], ["Ness", "9" * 5_000]]}),
        "sheets": ods_of({f"S{n}": [["a", "b"], [1, n]] for n in range(2_000)}),
        **{name: packed({**parts, "content.xml": text.encode() + parts["content.xml"].replace(b">a<", b">&l11;<")}) for name, text in _ENTITIES.items()},
    }  # fmt: skip


def _epub() -> Mapping[str, bytes]:
    whole = epub_of({"a.xhtml": "<p>x</p>"})
    parts = unpacked(whole)
    container = parts["META-INF/container.xml"]
    return {
        "bomb": epub_of({"a.xhtml": " " * 60_000_000}),
        "chapters": epub_of({"a.xhtml": "<p>x</p>"}, spine=["a.xhtml"] * 100_000),
        "many": epub_of({f"{n}.xhtml": "<p>x</p>" for n in range(9_000)}),
        "entries": packed({**parts, **{f"x{n}": b"" for n in range(11_000)}}),
        "out": packed({**parts, "META-INF/container.xml": container.replace(b"OEBPS/book.opf", b"../../../etc/passwd")}),
        "self": packed({**parts, "META-INF/container.xml": container.replace(b"OEBPS/book.opf", b"META-INF/container.xml")}),
        "deep": epub_of({"a.xhtml": "<div>" * 100_000}),
        "nested": packed({**parts, "OEBPS/a.xhtml": whole}),
        "chapter": epub_of({"a.xhtml": "x"}, about="<dc:title>" + "y" * 1_000_000 + "</dc:title>"),
        **{name: packed({**parts, "OEBPS/book.opf": text.encode() + parts["OEBPS/book.opf"]}) for name, text in _ENTITIES.items()},
    }  # fmt: skip


def _eml() -> Mapping[str, bytes]:
    def nested(depth: int) -> bytes:
        head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
        return f"Subject: s\n{head}Content-Type: text/plain\n\nx\n".encode()

    parts = "--b\nContent-Type: text/plain\n\nx\n" * 5_000
    return {
        "nested": nested(500),
        "parts": f"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n".encode(),
        "header": b"Subject: " + b"=?utf-8?q?a?= " * 50_000 + b"\n\nx",
        "headers": b"X-A: b\n" * 200_000 + b"\nx",
        "address": b"From: " + b"(" * 50_000 + b"\n\nx",
        "charset": b"Content-Type: text/plain; charset=" + b"x" * 100_000 + b"\n\nx",
        "idna": b"Subject: s\nContent-Type: text/plain; charset=idna\n\n" + b"xn--" * 30_000,
        "base64": b"Subject: s\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + b"QUJD" * 500_000,
        "line": b"Subject: s\n\n" + b"word " * 200_000,
        "html": b"Subject: s\nContent-Type: text/html\n\n" + b"<div>" * 100_000,
        "parameters": b"Subject: s\nContent-Type: text/plain" + b"; a*0=b" * 50_000 + b"\n\nx",
        "nul": b"Subject: a\x00b\n\nx\x00y",
    }


def _mbox() -> Mapping[str, bytes]:
    return {
        "messages": b"From a\nSubject: s\n\nx\n\n" * 3_000,
        "lines": b"From a\n\n" + b"\nFrom " * 200_000,
        "quotes": b"From a\nSubject: s\n\n" + b">" * 2_000_000,
    }


def _layer(driver: str) -> bytes | dict[str, bytes]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("a.fgb" if driver == "FlatGeobuf" else "a.shp")
        shapes = shapely.to_wkb(np.array([shapely.Point(1, 2), shapely.Point(3, 4)]))
        names = [np.array(["x", "y"], dtype=object)]
        pyogrio.raw.write(path, shapes, names, ["name"], geometry_type="Point", crs="EPSG:4326", driver=driver)
        return (
            path.read_bytes()
            if driver == "FlatGeobuf"
            else {each.name: each.read_bytes() for each in Path(folder).iterdir()}
        )


def _fgb() -> Mapping[str, bytes]:
    whole = _layer("FlatGeobuf")
    assert isinstance(whole, bytes)
    return {
        "size": whole[:8] + struct.pack("<I", 2**31 - 1) + whole[12:],
        "zeros": whole[:12] + b"\x00" * 1_000_000,
        "ones": whole[:12] + b"\xff" * 100_000,
        "half": whole[: len(whole) // 2],
        "more": whole + whole * 100,
        "counts": whole.replace(struct.pack("<Q", 2), struct.pack("<Q", 2**40)),
    }


def _shp() -> Mapping[str, bytes]:
    parts = _layer("ESRI Shapefile")
    assert isinstance(parts, dict)
    shp, dbf, shx = parts["a.shp"], parts["a.dbf"], parts["a.shx"]
    vrt = b"<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>"
    return {
        "bomb": packed({**parts, "a.dbf": dbf + b" " * 300_000_000}),
        "lengths": packed({**parts, "a.shx": shx[:100] + b"\x7f\xff\xff\xff" * ((len(shx) - 100) // 4)}),
        "offsets": packed({**parts, "a.shx": shx[:100] + struct.pack(">II", 50, 2**31 - 1) * 2}),
        "records": packed({**parts, "a.dbf": dbf[:4] + struct.pack("<I", 2**31 - 1) + dbf[8:]}),
        "width": packed({**parts, "a.dbf": dbf[:8] + b"\xff\xff\xff\xff" + dbf[12:]}),
        "points": packed({**parts, "a.shp": shp[:108] + struct.pack("<I", 5) + b"\xff" * (len(shp) - 112)}),
        "vrt": packed({**parts, "a.shp": vrt}),
        "prj": packed({**parts, "a.prj": b"PROJCS[" * 20_000}),
        "pipeline": packed({**parts, "a.prj": b"+proj=pipeline +step +proj=hgridshift +grids=/etc/passwd"}),
        "cpg": packed({**parts, "a.cpg": b"x" * 100_000}),
        "nested": packed({"a.zip": packed(parts)}),
        "empty": packed({}),
        "other": packed({"readme.txt": b"x", "a/b/c.csv": b"x"}),
        "stack": packed({f"{n}.shp": shp for n in range(2_000)}),
    }


def _parquet() -> Mapping[str, bytes]:
    def written(table: pa.Table, **more: object) -> bytes:
        made = io.BytesIO()
        pq.write_table(table, made, **more)
        return made.getvalue()

    whole = written(pa.table({"name": ["x", "y"], "n": [1, 2]}))
    geo = {"primary_column": "g", "columns": {"g": {"encoding": "WKB"}}}
    nested = struct.pack("<BII", 1, 7, 1) * 50_000 + struct.pack("<BI2d", 1, 1, 1, 1)
    shapes = pa.table({"g": pa.array([nested], pa.binary())})
    return {
        "rows": written(pa.table({"n": pa.array(np.zeros(20_000_000, dtype="int8"))}), compression="zstd"),
        "text": written(pa.table({"n": ["x" * 1_000_000] * 400}), compression="zstd"),
        "columns": written(pa.table({f"c{n}": [1] for n in range(5_000)})),
        "footer": whole[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "garbage": whole[:4] + b"\xff" * (len(whole) - 12) + whole[-8:],
        "half": whole[: len(whole) // 2],
        "nested": written(shapes.replace_schema_metadata({"geo": json.dumps(geo)})),
        "geo": written(shapes.replace_schema_metadata({"geo": "[" * 50_000})),
        "column": written(shapes.replace_schema_metadata({"geo": json.dumps({**geo, "primary_column": "none"})})),
        "system": written(shapes.replace_schema_metadata({"geo": json.dumps({**geo, "columns": {"g": {"encoding": "WKB", "crs": "x" * 100_000}}})})),
    }  # fmt: skip


def _json() -> Mapping[str, bytes]:
    return {
        "arrays": b"[" * 1_000_000,
        "objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "digits": b'[{"name": "x", "n": ' + b"9" * 100_000 + b"}]",
        "names": json.dumps([{f"k{n}": 1 for n in range(20_000)}]).encode(),
        "ragged": json.dumps([{f"k{n}": 1} for n in range(4_000)]).encode(),
        "strings": json.dumps({"a": "x" * 1_000_000}).encode(),
        "nan": b'[{"a": NaN}]',
        "half": b'[{"a": "\\ud800"}]',
        "wide": json.dumps({f"k{n}": {f"j{m}": n for m in range(20)} for n in range(1_000)}).encode(),
    }


def wrong_endings() -> Mapping[str, bytes]:
    """Files under the ending of another kind, two at a time."""
    return {
        "pptx-as-odt.odt": pptx_of(("T", ["x"], [], "")),
        "odt-as-epub.epub": odt_of(odt_paragraph("x")),
        "epub-as-ods.ods": epub_of({"a.xhtml": "<p>x</p>"}),
        "ods-as-pptx.pptx": ods_of({"S": [["a", "b"], [1, 2]]}),
        "eml-as-parquet.parquet": b"Subject: s\n\nx",
        "deflate-as-fgb.fgb": zlib.compress(b"x" * 100_000),
    }


_KINDS = {
    "pptx": _pptx, "odt": _odt, "ods": _ods, "epub": _epub, "eml": _eml, "mbox": _mbox, "fgb": _fgb, "zip": _shp,
    "parquet": _parquet, "json": _json,
}  # fmt: skip
