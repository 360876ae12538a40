# SPDX-License-Identifier: Apache-2.0
"""What a host does with a core's registers, by their names, as docs/registers.md says."""

from collections.abc import Sequence

from ropeway.hdl.register_bus import Answer
from ropeway.hdl.registers import RegisterMap
from tests.hdl.axi_manager import read, write

PATIENCE = 400  # polls


class Host:
    """A program beside a simulated core."""

    def __init__(self, ctx, axi, registers: RegisterMap):
        self.ctx, self._axi, self.map = ctx, axi, registers

    async def write(self, name: str, number: int = 0, **fields: int) -> int:
        """Write fields, or a VALUE; the response."""
        register = self.map[name]
        return await write(self.ctx, self._axi, register.address(number), register.encode(**fields))

    async def put(self, name: str, number: int = 0, **fields: int):
        """Write, which must be well answered."""
        assert await self.write(name, number, **fields) == Answer.OKAY, name

    async def read(self, name: str, number: int = 0) -> dict[str, int]:
        """A register's fields."""
        register, words = self.map[name], []
        for half in range(register.width // 32):
            code, word = await read(self.ctx, self._axi, register.address(number) + 4 * half)
            assert code == Answer.OKAY, name
            words.append(word)
        return register.decode(sum(word << 32 * half for half, word in enumerate(words)))

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
