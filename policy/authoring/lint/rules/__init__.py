"""The rules of the lint, a module each."""
