"""Money for a small shop, in cents."""

from till.money import label, split

__all__ = ["label", "split"]
