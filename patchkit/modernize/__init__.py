"""Read the scripts that users have, and rewrite them for other releases."""
