"""Sources and a question as the default model and the checks of a draft read them."""
