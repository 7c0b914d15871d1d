"""The kinds of files that are taken in, and what their stored text is."""

from __future__ import annotations

MARKDOWN = "text/markdown"
HTML = "text/html"
PDF = "application/pdf"
CSV = "text/csv"
TSV = "text/tab-separated-values"
GEOJSON = "application/geo+json"
GEOPACKAGE = "application/geopackage+sqlite3"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
EPUB = "application/epub+zip"
EMAIL = "message/rfc822"
MBOX = "application/mbox"
SHAPEFILE = "application/vnd.shp"
FLATGEOBUF = "application/vnd.flatgeobuf"
PARQUET = "application/vnd.apache.parquet"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"
JSON = "application/json"
NDJSON = "application/x-ndjson"
SHAPEFILE_PARTS = (".shp", ".shx", ".dbf", ".prj", ".cpg")
"""The files of a Shapefile that are read; each is named as the first is."""
SHAPEFILE_INDEXES = (".sbn", ".sbx", ".qix", ".qmd", ".fbn", ".fbx", ".ain", ".aih", ".ixs", ".mxs", ".atx")
"""Its files that hold nothing of its own."""
MEDIA_TYPES = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".csv": CSV,
    ".tsv": TSV,
    ".geojson": GEOJSON,
    ".docx": DOCX,
    ".xlsx": XLSX,
    ".gpkg": GEOPACKAGE,
    ".pptx": PPTX,
    ".odt": ODT,
    ".ods": ODS,
    ".epub": EPUB,
    ".eml": EMAIL,
    ".mbox": MBOX,
    ".shp": SHAPEFILE,
    ".zip": SHAPEFILE,
    ".fgb": FLATGEOBUF,
    ".png": PNG,
    ".jpg": JPEG,
    ".jpeg": JPEG,
    ".tif": TIFF,
    ".tiff": TIFF,
    ".parquet": PARQUET,
    ".geoparquet": PARQUET,
    ".json": JSON,
    ".ndjson": NDJSON,
    ".jsonl": NDJSON,
    ".geojsonl": NDJSON,
}
"""By the ending of a name."""
DELIMITERS = {CSV: ",", TSV: "\t", XLSX: ",", ODS: ","}
"""The kinds that are tables, with what parts the cells of the stored text."""
FEATURES = frozenset((GEOJSON, GEOPACKAGE, SHAPEFILE, FLATGEOBUF))
"""The kinds that are features; the stored text is GeoJSON."""
EITHER = frozenset((PARQUET, JSON, NDJSON))
"""The kinds whose content says whether they are a table, features or a text."""
VERBATIM = frozenset(("text/markdown", "text/plain", CSV, TSV, GEOJSON))
"""The kinds whose stored text is that of the file; of the others it was extracted."""
