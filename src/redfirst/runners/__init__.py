# SPDX-License-Identifier: Apache-2.0
"""One adapter per test framework, behind one protocol."""
