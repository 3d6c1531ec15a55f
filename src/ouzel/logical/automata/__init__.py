"""Register automata with their meaning (AFA 2.2)."""
