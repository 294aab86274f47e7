# SPDX-License-Identifier: Apache-2.0
"""Typed values without effects, shared by every room."""
