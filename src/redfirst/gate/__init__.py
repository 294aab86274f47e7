# SPDX-License-Identifier: Apache-2.0
"""The kernel: bind, run, classify, qualify, freeze."""
