"""The asset registry as a caller may see it (requirement 004): asked, decided item by item, recorded, and only then
shown."""
