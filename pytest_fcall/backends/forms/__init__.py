"""Interfaces of models, as apps speak them: how what is asked and what is answered is read."""
