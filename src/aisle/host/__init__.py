"""What processes of one host share: folders, locks, doorbells, and the courier's life seen from outside."""
