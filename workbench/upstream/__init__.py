"""Run the libraries' own tests without patchkit and with it, and compare how each ends."""
