"""A proxy between an app and the models that it asks: what goes by is recorded, and given back offline."""
