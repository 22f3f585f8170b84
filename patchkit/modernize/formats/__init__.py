"""What surrounds a script: notebooks, files of settings, lines of a shell."""
