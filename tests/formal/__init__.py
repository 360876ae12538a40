# SPDX-License-Identifier: Apache-2.0
"""Formal proofs: what holds of the blocks for every input, and the bugs that each proof rejects."""
