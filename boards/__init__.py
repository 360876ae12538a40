# SPDX-License-Identifier: Apache-2.0
"""Builds for devices and boards, and reports on them."""
