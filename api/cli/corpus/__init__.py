"""Commands for the corpus: documents, jobs, indexes, sources and assets."""
