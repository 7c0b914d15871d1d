"""Recorded requests run again and compared, to a grade."""
