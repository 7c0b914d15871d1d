"""The thing, place or person that a question asks of, and another one that the sentence tells of in its place."""
