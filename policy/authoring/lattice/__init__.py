"""The finite domain that a bundle's data speak of, decided cell by cell, and what must hold over it."""
