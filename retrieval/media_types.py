"""The kinds of files that are taken in, and what their stored text is."""

from __future__ import annotations

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
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
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
}
"""By the ending of a name."""
DELIMITERS = {CSV: ",", TSV: "\t", XLSX: ",", ODS: ","}
"""The kinds that are tables, with what parts the cells of the stored text."""
FEATURES = frozenset((GEOJSON, GEOPACKAGE))
"""The kinds that are features; the stored text is GeoJSON."""
VERBATIM = frozenset(("text/markdown", "text/plain", CSV, TSV, GEOJSON))
"""The kinds whose stored text is that of the file; of the others it was extracted."""
