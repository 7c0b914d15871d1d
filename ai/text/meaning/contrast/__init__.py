"""Words that tell the sentence that is meant from one beside it."""
