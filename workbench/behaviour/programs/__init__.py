"""The programs that are run in each environment, one module for each kind; each function is a program."""
