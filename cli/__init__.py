# SPDX-License-Identifier: Apache-2.0
"""The ``ropeway`` command, one thin module a verb."""
