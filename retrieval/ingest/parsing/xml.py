"""XML of strangers: no entities of their own, no other files, no network, no more depth than a document has."""

from __future__ import annotations

from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.parsing.extras import extra


def parsed_xml(name: str, data: bytes) -> Any:
    """The root element. Raises `LoadError`; `ReaderMissing` where lxml is not installed."""
    etree = extra(name, "lxml.etree", "office")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise LoadError(f"{name}: its XML cannot be read ({str(exc)[:80]})") from exc
    if root.getroottree().docinfo.internalDTD is not None and _declares(root):
        raise LoadError(f"{name}: its XML declares entities of its own")
    return root


def _declares(root: Any) -> bool:
    return any(True for _ in root.getroottree().docinfo.internalDTD.iterentities())


def local(element: Any) -> str:
    """The name of an element without its namespace; empty for what is no element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
