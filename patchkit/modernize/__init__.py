"""Read the scripts that users have, and write them anew for other releases."""
