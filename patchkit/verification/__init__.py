"""Run reproducers with and without their patches, each side in a process of its own."""
