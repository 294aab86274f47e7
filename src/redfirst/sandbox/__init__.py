# SPDX-License-Identifier: Apache-2.0
"""Isolation of one run: the protocol, its backends, limits and probes."""
