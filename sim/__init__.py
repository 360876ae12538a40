# SPDX-License-Identifier: Apache-2.0
"""Running hardware: benches, traffic and simulators."""
