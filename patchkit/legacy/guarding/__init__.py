"""Notice where a script uses an old spelling: calls, imports, attributes, its own classes."""
