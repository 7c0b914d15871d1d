"""The bytes of an entry: its leaf in the tree, and its parts outside it."""
