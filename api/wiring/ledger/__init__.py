"""The log of a home and the index beside it, as the settings name them."""
