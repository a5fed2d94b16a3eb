"""Requests that are answered elsewhere: plans, which are files of requests, and files of replies."""
