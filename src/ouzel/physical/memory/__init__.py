"""What engines keep of a stream: events that may still matter, their partitions, and values that kernels take."""
