"""Answering: what turns a Request into a Reply, and the replies kept from earlier."""
