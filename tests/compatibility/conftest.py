"""The projects in these folders are run by the tests, and are none of them."""

collect_ignore = ["project", "versions"]
