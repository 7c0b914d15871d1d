"""Bundles: their content, archive, releases and signatures."""
