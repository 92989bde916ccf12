"""Moving goods from place to place, and carrying out what a clearance assigned."""
