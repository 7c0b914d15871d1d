"""Wire formats of the asset registry (requirement 004)."""
