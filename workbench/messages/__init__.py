"""Read off wheels which errors the libraries raise, and count those that `explain` knows."""
