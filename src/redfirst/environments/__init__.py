# SPDX-License-Identifier: Apache-2.0
"""How the tests of a checkout run: found, or built once in a sandbox and cached by content."""
