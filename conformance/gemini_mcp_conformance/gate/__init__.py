"""The gate for changes of the specification: lint one, compare two, write its documentation."""
