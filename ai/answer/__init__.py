"""From admitted items to a released answer: draft, sentences, citations, the body."""
