# SPDX-License-Identifier: Apache-2.0
"""What a host does with a core's registers, by their names, as docs/registers.md says."""

from collections.abc import Sequence

from ropeway.hdl.register_bus import Answer
from ropeway.hdl.registers import RegisterMap
from tests.hdl.bus_managers import access

PATIENCE = 400  # polls


class Host:
    """A program beside a simulated core."""

    def __init__(self, ctx, port, registers: RegisterMap, bus: str = "axi4-lite"):
        self.ctx, self._port, self.map, self._bus = ctx, port, registers, bus

    async def write(self, name: str, number: int = 0, **fields: int) -> int:
        """Write fields, or a VALUE; the response."""
        register = self.map[name]
        return (await self._access(register.address(number), 1, register.encode(**fields)))[0]

    async def put(self, name: str, number: int = 0, **fields: int):
        """Write, which must be well answered."""
        assert await self.write(name, number, **fields) == Answer.OKAY, name

    async def read(self, name: str, number: int = 0) -> dict[str, int]:
        """A register's fields."""
        register, words = self.map[name], []
        for half in range(register.width // 32):
            code, word = await self._access(register.address(number) + 4 * half, 0)
            assert code == Answer.OKAY, name
            words.append(word)
        return register.decode(sum(word << 32 * half for half, word in enumerate(words)))

    async def _access(self, address: int, *how: int) -> tuple[int, int]:
        return await access(self.ctx, self._bus, self._port, address, *how)

    async def get(self, name: str, number: int = 0) -> int:
        """A register's VALUE."""
        return (await self.read(name, number))["value"]

    async def until(self, name: str, number: int = 0, **wanted: int) -> dict[str, int]:
        """Read until some fields are as wanted."""
        for _ in range(PATIENCE):
            found = await self.read(name, number)
            if wanted.items() <= found.items():
                return found
        raise TimeoutError(f"{name} is {found}, not {wanted}")

    async def load(self, target: int, words: Sequence[int]):
        """Load an image, looking after its first word alone."""
        await self.put("LOAD", target=target, words=len(words))
        for number, word in enumerate(words):
            await self.put("LOAD_WINDOW", number % 1024, value=int(word))
            if number == 0:
                await self.until("LOAD_STATUS", pending=0)
