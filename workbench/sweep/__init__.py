"""What all sweeps share: cells are tried without patchkit and with it, kept, judged and shown."""
