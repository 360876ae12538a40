# SPDX-License-Identifier: Apache-2.0
"""Tests, mirroring the folders of the source."""
