# SPDX-License-Identifier: Apache-2.0
"""What a change proves: which tests it touches, what they say of base and head, and whether that is enough."""
