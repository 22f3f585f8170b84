"""Train with frameworks that are built on the libraries, as their users start them."""
