# SPDX-License-Identifier: Apache-2.0
"""Synthesizable components, one a file."""
