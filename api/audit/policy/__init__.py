"""Policy for its authors: trials, explanations, backtests, drafts and releases."""
