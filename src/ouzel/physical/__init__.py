"""Stage 4: engines that find matches."""
