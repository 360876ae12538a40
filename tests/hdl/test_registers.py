# SPDX-License-Identifier: Apache-2.0
"""A table of registers is taken if and only if it agrees with itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropeway.golden.errors import InputError
from ropeway.hdl.registers import Access, Field, Register, RegisterMap
from tests.hdl.register_model import SAMPLE, one


def register(name="R", offset=0, fields=None, **more) -> Register:
    return Register(name, offset, fields or one(Access.RW), "A register.", **more)


def field(name="F", bits=4, access=Access.RW, lsb=0, **more) -> Field:
    return Field(name, bits, access, "A field.", lsb, **more)


WRONG_FIELDS = {
    "lower case": ({"name": "f"}, "name"),
    "digit first": ({"name": "1F"}, "name"),
    "no bits": ({"bits": 0}, "F.bits"),
    "too many bits": ({"bits": 65}, "F.bits"),
    "below bit 0": ({"lsb": -1}, "F.lsb"),
    "reset too large": ({"reset": 16}, "F.reset"),
    "reset negative": ({"reset": -1}, "F.reset"),
    "signed reset too large": ({"reset": 8, "signed": True}, "F.reset"),
    "signed reset too small": ({"reset": -9, "signed": True}, "F.reset"),
    "reset of what is shown": ({"reset": 1, "access": Access.RO}, "F.reset"),
    "reset of an order": ({"reset": 1, "access": Access.WO}, "F.reset"),
    "wide flag": ({"bits": 2, "access": Access.W1C}, "F.bits"),
}
WRONG_REGISTERS = {
    "misaligned": ({"offset": 2}, "R.offset"),
    "below 0": ({"offset": -4}, "R.offset"),
    "misaligned wide": ({"offset": 4, "width": 64, "fields": one(Access.RO)}, "R.offset"),
    "wide pop": ({"width": 64, "fields": one(Access.POP)}, "R.access"),
    "pops and more": ({"fields": (field(access=Access.POP), field("G", lsb=4))}, "R.access"),
    "array of pops": ({"count": 2, "fields": one(Access.POP)}, "R.access"),
    "misaligned array": ({"offset": 8, "count": 3, "fields": one(Access.RO)}, "R.offset"),
    "odd width": ({"width": 16}, "R.width"),
    "no count": ({"count": 0}, "R.count"),
    "beyond its width": ({"fields": (field(bits=4, lsb=29),)}, "R.F"),
    "overlapping": ({"fields": (field(), field("G", lsb=3))}, "R.G"),
    "out of order": ({"fields": (field(lsb=8), field("G"))}, "R.G"),
    "same names": ({"fields": (field(), field(lsb=4))}, "R.fields"),
    "writable wide": ({"width": 64}, "R.access"),
    "kept array": ({"count": 2}, "R.access"),
    "mixed array": (
        {"count": 2, "fields": (field(access=Access.RO), field("G", access=Access.WO, lsb=4))},
        "R.access",
    ),
    "refusing to keep": ({"refuses": True}, "R.access"),
}
WRONG_MAPS = {
    "same names": ((register("A"), register("A", 4)), "A.name"),
    "same full names": ((register("A_F"), register("A", 4, (field(),))), "A.name"),
    "a name that a port has": ((register("A"), register("A_CLEAR", 4)), "A_CLEAR.name"),
    "same offsets": ((register("A"), register("B")), "B.offset"),
    "out of order": ((register("A", 4), register("B", 0)), "B.offset"),
    "within an array": (
        (register("A", 0, one(Access.RO), count=3), register("B", 8)),
        "B.offset",
    ),
    "upper half": ((register("A", 0, one(Access.RO), width=64), register("B", 4)), "B.offset"),
    "beyond the address": ((register("A", 256),), "registers"),
    "none": ((), "registers"),
}


@pytest.mark.parametrize("name", WRONG_FIELDS)
def test_a_field_that_does_not_agree_is_refused(name):
    given_, key = WRONG_FIELDS[name]
    with pytest.raises(InputError) as caught:
        field(**given_)
    assert caught.value.key == key


@pytest.mark.parametrize("name", WRONG_REGISTERS)
def test_a_register_that_does_not_agree_is_refused(name):
    given_, key = WRONG_REGISTERS[name]
    with pytest.raises(InputError) as caught:
        register(**given_)
    assert caught.value.key == key


@pytest.mark.parametrize("name", WRONG_MAPS)
def test_a_map_that_does_not_agree_is_refused(name):
    registers, key = WRONG_MAPS[name]
    with pytest.raises(InputError) as caught:
        RegisterMap("MAP", "A map.", registers, address_bits=8)
    assert caught.value.key == key


@pytest.mark.parametrize("text", ["no end", 'a "quote".', "two\nlines.", ""])
def test_a_description_is_a_sentence_that_every_document_can_hold(text):
    with pytest.raises(InputError, match=r"F\.description"):
        Field("F", 1, Access.RW, text)


PLACES = st.lists(st.tuples(st.integers(0, 31), st.integers(1, 12)), min_size=1, max_size=6)


@given(PLACES)
def test_fields_are_taken_if_and_only_if_no_bit_is_used_twice_and_they_are_in_order(places):
    fields = tuple(field(f"F{n}", bits, lsb=lsb) for n, (lsb, bits) in enumerate(places))
    used = [bit for lsb, bits in places for bit in range(lsb, lsb + bits)]
    agrees = used == sorted(set(used)) and used[-1] < 32
    try:
        register(fields=fields)
    except InputError:
        assert not agrees
    else:
        assert agrees


SPANS = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 5)), min_size=1, max_size=6)


@given(SPANS)
def test_registers_are_taken_if_and_only_if_no_word_is_used_twice_and_they_are_in_order(spans):
    words = [word for at, count in spans for word in range(at, at + count)]
    aligned = all(at % (1 << (count - 1).bit_length()) == 0 for at, count in spans)
    agrees = aligned and words == sorted(set(words)) and words[-1] < 16
    try:
        registers = tuple(
            register(f"R{n}", 4 * at, one(Access.RO), count=count)
            for n, (at, count) in enumerate(spans)
        )
        made = RegisterMap("MAP", "A map.", registers, address_bits=6)
    except InputError:
        assert not agrees
        return
    assert agrees
    for address in range(64):
        owners = [r for r in made if r.offset <= address < r.offset + r.size]
        found = made.at(address)
        assert (found[0] if found else None) == (owners[0] if owners else None)


@given(st.integers(0, 31), st.integers(1, 32), st.booleans(), st.integers(0, 2**32 - 1))
def test_a_value_comes_back_from_its_word(lsb, bits, signed, noise):
    if lsb + bits > 32:
        bits = 32 - lsb
    one_field = field(bits=bits, lsb=lsb, signed=signed)
    low, high = one_field.limits
    assert high - low == 2**bits - 1
    value = low + noise % (high - low + 1)
    assert one_field.decode(one_field.encode(value) | noise & ~one_field.mask) == value
    for wrong in (low - 1, high + 1):
        with pytest.raises(InputError):
            one_field.encode(wrong)


def test_words_are_made_and_read_by_the_fields_names():
    modes = SAMPLE["MODES"]
    word = modes.encode(low=7, wide=-2, top=1)
    assert modes.decode(word) == {"low": 7, "wide": -2, "top": 1}
    assert modes.decode(modes.reset) == {"low": 0x15, "wide": -3, "top": 1}
    with pytest.raises(KeyError):
        modes.encode(high=1)
    with pytest.raises(KeyError):
        SAMPLE["MOODS"]
    assert "MODES" in SAMPLE
    assert "MOODS" not in SAMPLE


def test_an_array_is_addressed_by_number():
    digest = SAMPLE["DIGEST"]
    assert [digest.address(n) for n in (0, 1, 7)] == [0x80, 0x88, 0xB8]
    for number in (-1, 8):
        with pytest.raises(InputError):
            digest.address(number)
