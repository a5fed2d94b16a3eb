"""The bookings of a restaurant."""
