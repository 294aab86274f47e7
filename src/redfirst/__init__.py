# SPDX-License-Identifier: Apache-2.0
"""redfirst: from a bug report to a test that fails first, to a fix that is proven by it."""

__version__ = "0.1.0"
