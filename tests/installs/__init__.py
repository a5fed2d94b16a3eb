import pytest

pytest.register_assert_rewrite("tests.installs.environments", "tests.installs.project")
