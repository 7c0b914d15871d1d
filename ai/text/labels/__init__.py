"""Labels of entries: the fields that they name, and the hours of days."""
