"""Stage 5 on Spark: sessions, and the Java they run on."""
