"""YAML into nodes that know their places: encoding, limits, scalars, complaints in words."""
