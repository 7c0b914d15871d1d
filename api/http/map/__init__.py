"""The corpus as a map: layers, their features, places by name. All inside a scope and through the evidence point."""
