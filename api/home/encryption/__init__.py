"""The encryption of a home: its key, the data key wrapped under it, and sealed bytes."""
