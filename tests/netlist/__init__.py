# SPDX-License-Identifier: Apache-2.0
"""Tests of what synthesis makes of a design: its cells, simulated, give golden's bits."""
