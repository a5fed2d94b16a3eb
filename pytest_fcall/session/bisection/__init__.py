"""Which edit made a case fail: asks questions between the accepted one and today's."""
