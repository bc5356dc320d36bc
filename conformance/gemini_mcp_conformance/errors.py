"""The errors of the suite, by who has to mend them; pure. Anything else that is raised is a fault of ours, unforeseen.

A new class is added only for a new party at fault.
"""


class UsageError(Exception):
    """A flag or a file of the operator that cannot be used: a sentence on stderr, exit 2."""


class SuiteError(Exception):
    """The suite, or what it needs to run at all, is broken: a sentence on stderr, exit 5."""
