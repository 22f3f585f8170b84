"""Apply patches: what is wanted, the hooks that wait for modules, and the live functions."""
