# SPDX-License-Identifier: Apache-2.0
"""What a CI service shows of a check: annotations, a job summary, a JUnit file."""
