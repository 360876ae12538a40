# SPDX-License-Identifier: Apache-2.0
"""A board's registers, by their names."""

from collections.abc import Mapping

from ropeway.golden.errors import InputError
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.registers import BUS_BYTES, Register

from .uartbone_client import UartboneClient

__all__ = ["Board"]

COUNTERS = "VECTOR_"


class Board:
    """A board that was found at ``client``, made of ``parameters``.

    Everything here raises LinkError where the link fails.
    """

    def __init__(self, client: UartboneClient, parameters: HostedParameters):
        self.client, self.parameters = client, parameters
        self._maps = core_registers(parameters.core), host_registers(parameters)
        self.registers: Mapping[str, Register] = {r.name: r for held in self._maps for r in held}

    def register(self, name: str) -> Register:
        """The register of a name. Raises InputError where the board has none."""
        if name not in self.registers:
            raise InputError("register", name, "is not of this board")
        return self.registers[name]

    def read(self, name: str, number: int = 0) -> dict[str, int]:
        """A register's fields by their names. Raises InputError."""
        register, batch = self.register(name), self.client.batch()
        if not register.readable:
            raise InputError("register", name, "is only to be written")
        batch.read(register.address(number), register.width // 32)
        low, *high = self.client.exchange(batch).tolist()
        return register.decode(low | sum(high) << 32)

    def write(self, name: str, number: int = 0, **fields: int):
        """Write a register's fields, zeros where not named. Raises InputError."""
        register, batch = self.register(name), self.client.batch()
        if not register.writable:
            raise InputError("register", name, "is only to be read")
        known = {field.name.lower(): register.full_name(field) for field in register.fields}
        for field, value in fields.items():
            if field not in known:
                raise InputError(f"{name}.{field}", value, f"must be of {', '.join(known)}")
        try:
            word = register.encode(**fields)
        except InputError as error:
            raise InputError(known[error.key.lower()], error.value, error.rule) from None
        batch.write(register.address(number), [word])
        self.client.exchange(batch)

    def fingerprint(self, target: int) -> str | None:
        """The digest of what a target holds, 16 hex digits; None of nothing."""
        value = self.read("FINGERPRINT", target)["value"]
        return f"{value:016x}" if value else None

    def counters(self) -> dict[str, int]:
        """The core's counters of vectors; none where it was made without."""
        counted = [r for r in self._maps[0] if r.name.startswith(COUNTERS) and r.width == 64]
        if not counted:
            return {}
        batch, start = self.client.batch(), counted[0].offset
        batch.read(start, (counted[-1].offset - start) // BUS_BYTES + 2)
        words = self.client.exchange(batch).tolist()
        halves = {r.name: (r.offset - start) // BUS_BYTES for r in counted}
        return {
            name.removeprefix(COUNTERS).lower(): words[at] | words[at + 1] << 32
            for name, at in halves.items()
        }
