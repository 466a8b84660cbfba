"""What each form of a translator weighs, and how soon it answers."""
