# SPDX-License-Identifier: Apache-2.0
"""What people and programs see of redfirst."""
