"""A module that cannot be loaded."""

from polls.nowhere import nothing

print(nothing)
