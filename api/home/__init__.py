"""The home folder: settings, keys, and who is asking."""
