# SPDX-License-Identifier: Apache-2.0
"""Diffs and trees: parse, apply exactly, export, and decide which paths a patch may touch."""
