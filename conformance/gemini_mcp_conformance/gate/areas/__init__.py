"""The areas of the specification that `diff` compares, one module each: two specifications in, changes out."""
