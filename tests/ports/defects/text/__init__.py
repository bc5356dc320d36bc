"""What damages certain texts and characters."""
