"""Programs that run in the Python of a version set, which may have no patchkit."""
