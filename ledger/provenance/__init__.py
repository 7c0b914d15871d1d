"""Provenance of a run as W3C PROV, and the checks of such a document."""
