"""Notice where a script meets a change: calls, imports, attributes, classes of its own."""
