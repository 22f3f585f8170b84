"""Record measurements in the matrix, check the patches against it, and draw it."""
