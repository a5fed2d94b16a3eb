"""What makes tools hard to choose and to fill in: rules about names, descriptions and schemas."""
