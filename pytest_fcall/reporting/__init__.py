"""Text for people: functions that turn plain data into lines that are safe for a terminal."""
