"""A run that goes on, as a small page of HTML that is written again and again, and loads itself anew."""
