"""Parts that the readers of several kinds of files share."""
