"""The rules of `lint`, one module for each part of the specification."""
