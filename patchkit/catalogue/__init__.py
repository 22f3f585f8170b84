"""The patches there are: where they are found, which are due, and what is said of one."""
