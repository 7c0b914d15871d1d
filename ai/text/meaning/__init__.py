"""Questions one word off a sentence: rules by which it answers another question than was asked."""
