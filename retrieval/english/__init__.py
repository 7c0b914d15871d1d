"""English in one place: words and their stems, function words, the calendar, what reads like a name."""
