"""What was seen: observations as frozen records, who caused what in them, and what gemini understood. Pure.

Nothing here says what is right.
"""
