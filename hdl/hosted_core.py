# SPDX-License-Identifier: Apache-2.0
"""A core that a host drives over a serial port: all of a board but its clock and its pins."""

from amaranth import *
from amaranth.hdl import ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.hosted_parameters import HostedParameters

from .boot import Boot
from .boot_plan import boot_writes
from .bus_split import BusSplit
from .core import RopewayCore
from .host_port import HostPort
from .host_registers import ADDRESS_BITS, HOST_BASE, host_registers
from .register_file import RegisterFile
from .self_test import SelfTest
from .serial_bridge import SerialBridge
from .streams import connect

__all__ = ["HostedCore"]


class HostedCore(wiring.Component):
    """RopewayCore with its registers and those of host_registers behind a UARTBone.

    docs/board.md says how a host uses it. At power-on the parameters' image is loaded and tested;
    requests wait until the test has begun. Its streams are the host's, or while a self-test lasts
    the test's.

    The host's reset is one of core, FIFOs and self-test for a clock: registers of the host keep
    what they hold, and requests go on.

    Ports
    -----
    rx : In, tx : Out
        The serial port, of any clock domain and of this one.
    busy, passed, failed : Out
        What is done at power-on, or a self-test, lasts; the last self-test matched, or did not.
    """

    rx: Signal
    tx: Signal
    busy: Signal
    passed: Signal
    failed: Signal

    def __init__(self, p: HostedParameters):
        self.parameters, self.map = p, host_registers(p)
        self._core, self._writes = RopewayCore(p.core), boot_writes(p)
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "busy": Out(1),
                "passed": Out(1),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p = self.parameters
        m.submodules.registers = registers = RegisterFile(self.map, small=True)
        resets = Signal()
        m.d.sync += resets.eq(registers.reset_written & registers.reset)
        core, port, test = self._core, HostPort(p), SelfTest(p.core)
        for name, part in (("core", core), ("port", port), ("self_test", test)):
            m.submodules[name] = ResetInserter(resets)(part)

        bridge, booted = self._serial(m, registers), Signal()
        m.submodules.split = split = BusSplit(
            ADDRESS_BITS, core.control.map.address_bits, HOST_BASE
        )
        connect(m, split.low_request, core.request)
        connect(m, core.answer, split.low_answer)
        connect(m, split.high_request, registers.request)
        connect(m, registers.answer, split.high_answer)
        self._manage(m, split, bridge, booted)

        self._streams(m, core, port, test)
        self._port(m, registers, port)
        self._self_test(m, registers, test)
        m.d.comb += self.busy.eq(test.busy | ~booted)
        m.d.sync += [
            self.passed.eq(test.done & test.matched),
            self.failed.eq(test.done & ~test.matched),
        ]
        return m

    def _serial(self, m, registers) -> SerialBridge:
        """The serial port, and what it tells of itself."""
        p = self.parameters
        m.submodules.bridge = bridge = SerialBridge(p.uart, ADDRESS_BITS, p.timeout)
        m.d.comb += [
            bridge.rx.eq(self.rx),
            self.tx.eq(bridge.tx),
            bridge.clear.eq(registers.crc_clear_written & registers.crc_clear),
            registers.request_crc.eq(bridge.request_crc),
            registers.answer_crc.eq(bridge.answer_crc),
            *(
                getattr(registers, f"host_flags_{flag}_event").eq(getattr(bridge, flag))
                for flag in ("framing", "dropped", "given_up", "refused")
            ),
        ]
        return bridge

    def _manage(self, m, split, bridge, booted):
        """Who makes accesses: what is done at power-on, and then the host."""
        managers = [bridge]
        if self._writes:
            m.submodules.boot = boot = Boot(self._writes, wait=0, address_bits=ADDRESS_BITS)
            m.d.comb += booted.eq(boot.done)
            managers.append(boot)
        else:
            m.d.comb += booted.eq(1)
        m.d.comb += bridge.hold.eq(~booted)
        # A register: what is decoded of a request is deep enough.
        m.d.sync += [
            split.request.valid.eq(Cat(manager.request.valid for manager in managers).any()),
            split.request.payload.eq(managers[-1].request.payload),
        ]
        with m.If(booted):
            m.d.sync += split.request.payload.eq(bridge.request.payload)
        for manager in managers:
            m.d.comb += [
                manager.answer.valid.eq(split.answer.valid),
                manager.answer.payload.eq(split.answer.payload),
            ]

    def _streams(self, m, core, port, test):
        """The core's vectors are the self-test's while it lasts, and else the host's."""
        into, out = core.s_axis, core.m_axis
        m.d.comb += out.tready.eq(Mux(test.busy, test.i.tready, port.i.tready))
        for name in into.signature.members:
            if name != "tready":
                given = Mux(test.busy, getattr(test.o, name), getattr(port.o, name))
                m.d.comb += getattr(into, name).eq(given)
        for part, takes in ((test, test.busy), (port, ~test.busy)):
            m.d.comb += part.o.tready.eq(into.tready & takes)
            for name in out.signature.members:
                if name == "tvalid":
                    m.d.comb += part.i.tvalid.eq(out.tvalid & takes)
                elif name != "tready":
                    m.d.comb += getattr(part.i, name).eq(getattr(out, name))
        wiring.connect(m, port.o_position, core.s_axis_position)

    def _port(self, m, registers, port):
        """The FIFOs of vectors, positions and results."""
        results = port.results
        m.d.comb += [
            port.packet_beats.eq(registers.packet_beats),
            port.vectors.valid.eq(registers.vector_in_written),
            port.vectors.payload.eq(registers.vector_in),
            port.positions.valid.eq(registers.position_in_written),
            port.positions.payload.eq(registers.position_in),
            registers.vector_space.eq(port.vector_space),
            registers.position_space.eq(port.position_space),
            registers.vector_ready.eq(port.result_words),
            registers.vector_out.eq(Mux(results.valid, results.payload, 0)),
            results.ready.eq(registers.vector_out_popped),
            registers.host_flags_underrun_event.eq(registers.vector_out_popped & ~results.valid),
            registers.host_flags_overrun_event.eq(port.overrun),
            registers.host_flags_error_event.eq(port.error),
        ]

    def _self_test(self, m, registers, test):
        """The self-test's registers."""
        control = registers.self_test_control_written & registers.self_test_control_start
        m.d.comb += [
            test.start.eq(control),
            test.tokens.eq(registers.self_test_tokens),
            test.beats.eq(registers.self_test_beats),
            test.seed.eq(registers.self_test_seed),
            test.expect.eq(registers.self_test_expected_written),
            test.expected.eq(registers.self_test_expected),
            registers.self_test_signature.eq(test.signature_word),
            registers.self_test_clocks.eq(test.clocks),
            *(
                getattr(registers, f"self_test_status_{name}").eq(getattr(test, name))
                for name in ("busy", "done", "matched")
            ),
        ]
        if self.map["SELF_TEST_SIGNATURE"].count > 1:
            m.d.comb += [
                test.expected_number.eq(registers.self_test_expected_number),
                test.signature_number.eq(registers.self_test_signature_number),
            ]
