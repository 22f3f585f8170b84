"""Convert the calls of a script: its keywords, values, order of arguments, and behaviour."""
