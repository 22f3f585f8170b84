"""Which releases are meant: installed ones, those a script was written for, sets that work."""
