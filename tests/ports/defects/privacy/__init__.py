"""What is to be kept from others."""
