"""A run from its options to its report: select, gather, play, judge, decide.

A module belongs here when it calls the steps of other rooms in order.
"""
