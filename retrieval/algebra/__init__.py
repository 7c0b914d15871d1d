"""The query algebra, its values as JSON and in words, and the operations that a question can ask."""
