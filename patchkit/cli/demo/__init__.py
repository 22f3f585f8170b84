"""Train a tiny model for real, without patchkit and then with it: `patchkit demo`."""
