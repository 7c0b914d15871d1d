"""The scaled corpus and the questions that benchmarks ask."""
