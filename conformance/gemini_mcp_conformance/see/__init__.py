"""What was seen, as frozen records: starts of gemini, who caused them, and how they are told. Pure.

Nothing here says what is right.
"""
