"""The known patches: where they are found, which are due, and how one is explained."""
