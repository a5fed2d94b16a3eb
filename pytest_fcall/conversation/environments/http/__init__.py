"""Calls that are requests over HTTP.

`request` makes a request of a call, `hosts` says who may be asked, `sending` asks, and `environment` keeps what was
said. Without a host that is allowed by name nothing is sent.
"""
