"""Stage 2, the algebra: expressions over streams of events with intervals (Cayuga 2)."""
