"""What earlier calls leave to later ones."""
