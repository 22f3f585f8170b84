"""Train with two ranks on this machine's CPU, without patchkit and with it, in every strategy."""
