"""Stage 5: what drives the engines: events in, matches out."""
