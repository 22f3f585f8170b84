"""Answer errors of this field: what was pasted, what it is, and what to do about it."""
