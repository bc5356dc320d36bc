"""The errors of the suite that somebody else has to mend; pure. Anything else that is raised is a fault of ours.

A new class is added only for a new party at fault.
"""


class UsageError(Exception):
    """A flag or a file of the operator that cannot be used: a sentence on stderr, exit 2."""
