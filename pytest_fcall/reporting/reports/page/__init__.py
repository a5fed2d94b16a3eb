"""A report as a page of HTML in one file: an overview that needs no script, and every case by a script in it."""
