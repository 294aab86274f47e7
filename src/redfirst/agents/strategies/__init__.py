# SPDX-License-Identifier: Apache-2.0
"""One folder for each way from a report to a test bundle."""
