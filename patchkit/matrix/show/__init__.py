"""Show the matrix as a table for a terminal, as Markdown, and as a picture."""
