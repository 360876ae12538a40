# SPDX-License-Identifier: Apache-2.0
"""Tests of the hardware, component by component."""
