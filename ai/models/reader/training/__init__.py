"""Training of the reader; needs the dependency group `train`, and is never imported by the product."""
