# SPDX-License-Identifier: Apache-2.0
"""The CSV names every word of every register once, as LiteX's clients read it."""

import csv

from ropeway.hdl.register_csv import register_csv
from tests.hdl.register_model import SAMPLE


def rows() -> list[list[str]]:
    lines = register_csv([SAMPLE]).splitlines()
    return list(csv.reader(line for line in lines if line[0] != "#"))


def test_every_word_has_a_name_its_address_and_how_it_is_accessed():
    found = {
        name: (int(address, 16), int(words), mode)
        for kind, name, address, words, mode in rows()
        if kind == "csr_register"
    }
    assert found["ident"] == (0x0, 1, "ro")
    assert found["modes"] == (0x8, 1, "rw")
    assert found["flags"] == (0x10, 1, "rw")
    assert found["order"] == (0x14, 1, "wo")
    assert (found["beats_low"], found["beats_high"]) == ((0x20, 1, "ro"), (0x24, 1, "ro"))
    assert [found[f"looked_up_{n}"][0] for n in range(5)] == [0x40, 0x44, 0x48, 0x4C, 0x50]
    assert found["digest_7_high"] == (0xBC, 1, "ro")
    words = sum(register.size // 4 for register in SAMPLE if register.name != "WINDOW")
    assert len(found) == words


def test_a_large_array_is_memory_and_what_clients_ask_for_is_there():
    assert ["memory_region", "window", "0x00000400", "1024", "io"] in rows()
    constants = {name: value for kind, name, value, *_ in rows() if kind == "constant"}
    assert constants == {"config_csr_data_width": "32", "config_bus_address_width": "32"}
