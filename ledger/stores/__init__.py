"""The boundary to what keeps the log, and the products behind it."""
