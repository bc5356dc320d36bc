"""What shows only when several things meet."""
