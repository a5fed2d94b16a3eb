"""The suite `nestful`."""
