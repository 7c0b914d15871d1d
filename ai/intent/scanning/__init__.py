"""From items to phrases: one pass, left to right; a phrase looks ahead only over what it consumes."""
