"""The gate for changes of the specification: lint one, compare two, write pages about it. Pure.

What may live here: what judges the files of `spec/`. It knows the reference only through its reader of the
specification and one module that asks what a call becomes; it knows nothing of the suite but the JSON of its report.
"""
