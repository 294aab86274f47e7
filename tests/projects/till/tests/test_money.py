import pytest

from till import label, split


def test_split_evenly():
    assert split(900, 3) == [300, 300, 300]


def test_split_among_nobody():
    with pytest.raises(ValueError):
        split(100, 0)


def test_label():
    assert label(305) == "3.05"
