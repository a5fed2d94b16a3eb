"""Interfaces of models as apps use them: how requests and answers are read."""
