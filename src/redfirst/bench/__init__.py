# SPDX-License-Identifier: Apache-2.0
"""Real bugs by the dozen: what a strategy makes of them, and what its tests are worth."""
