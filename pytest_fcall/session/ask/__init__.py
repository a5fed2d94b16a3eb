"""Getting replies: recorded ones first, then from the model if it may be asked."""
