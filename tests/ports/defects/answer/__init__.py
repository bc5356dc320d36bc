"""What becomes of what gemini prints."""
