# SPDX-License-Identifier: Apache-2.0
"""Planted mistakes, each of which a named test must find."""
