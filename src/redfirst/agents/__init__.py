# SPDX-License-Identifier: Apache-2.0
"""Strategies that hand a test bundle to the gate."""
