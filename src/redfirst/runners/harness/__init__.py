# SPDX-License-Identifier: Apache-2.0
"""Code that runs inside the tested interpreter: standard library only, Python 3.8 syntax.

The folder is made visible read-only inside the sandbox and started by ``start.py``; nothing here imports
the rest of the package.
"""
