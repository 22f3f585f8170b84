"""What libraries have no more, written anew from its documentation."""
