"""The search for the edit that made a case fail, by questions between the accepted one and today's."""
