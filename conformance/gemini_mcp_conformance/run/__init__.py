"""A run from its options to its report, in order: select, gather, play, judge, decide.

A module belongs here when it puts the steps of other rooms in order.
"""
