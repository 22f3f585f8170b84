"""What changed between releases without an error: programs that observe, and a comparison."""
