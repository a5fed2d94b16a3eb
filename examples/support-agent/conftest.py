"""What holds for all cases."""

import pytest
from support.shop import shop


@pytest.fixture(autouse=True)
def _fresh_shop():
    """The tools really run, so each case gets a shop in which nothing has been cancelled yet."""
    shop.cache_clear()
