"""The category `rest`: calls of `requests.get`, judged by the responses that servers once gave to the right ones."""
