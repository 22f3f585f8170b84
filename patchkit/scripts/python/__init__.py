"""Python source, written anew for other releases."""
