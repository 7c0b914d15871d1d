"""Measurements of the product: benchmarks, quality, the demonstration."""
