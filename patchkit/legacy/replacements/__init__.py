"""Functions and classes that libraries dropped, written by us from their documentation."""
