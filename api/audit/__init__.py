"""Work on what was recorded: reading, searching, explaining, erasing, trying other policies."""
