"""Where a bug begins and ends: its reproducer, run over version sets."""
