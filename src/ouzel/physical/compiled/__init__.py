"""What the compiled engines share: expressions as source, columns as arrays."""
