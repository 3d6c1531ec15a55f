"""Queries and conditions in words, and how words are laid out; engines put their plans into words with these."""
