"""Wrong drafts made from right ones over any corpus, and how many of each kind are released."""
