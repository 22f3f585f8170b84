"""Find what would make a training fail before it begins; torch is imported when called."""
