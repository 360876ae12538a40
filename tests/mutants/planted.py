# SPDX-License-Identifier: Apache-2.0
"""The planted mistakes: each a source replacement, and the named test that must turn red."""

from dataclasses import dataclass

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True)
class Mutant:
    """``old``, found exactly once in ``file``, becomes ``new``; then ``test`` must fail."""

    name: str
    file: str
    old: str
    new: str
    test: str


CHECKPOINT = (
    "tests/golden/test_checkpoints.py::"
    "test_q_and_k_of_a_checkpoint_turn_as_its_formula_says_and_v_passes"
)
LLAMA, QWEN = f"{CHECKPOINT}[llama-3.1-8b]", f"{CHECKPOINT}[qwen2.5-7b-instruct]"
ACCURACY = "tests/golden/test_accuracy.py::"
SINCOS = "tests/golden/test_sincos.py::"
SMALL = "tests/sim/test_engine.py::test_every_small_head_is_exact"
HALF_SPLIT, ADJACENT = f"{SMALL}[half-split]", f"{SMALL}[adjacent]"
SLOTS = "tests/sim/test_engine_slots.py::"
TRAFFIC = "tests/sim/test_engine_traffic.py::"
FLAGS = f"{SLOTS}test_conjugate_is_the_negated_position_and_pure_leaves_the_amplitude_out"
HEADS = "tests/hdl/test_heads.py::test_every_pattern_is_written_out_head_by_head[1-0.0]"
LANE = "tests/hdl/test_rotator.py::test_a_lane_turns_a_pair_every_clock_as_golden_does"
THREE, FOUR = f"{LANE}[16 bits, three multipliers]", f"{LANE}[16 bits, four multipliers]"
PHASE = "tests/hdl/test_phase_generator.py::test_a_phase_comes_a_latency_later_one_every_interval"
SINES = "tests/hdl/test_sincos.py::test_every_corner_and_random_phases_are_exact_one_an_interval"
COEFFICIENTS = (
    "tests/hdl/test_amplitude.py::"
    "test_every_amplitude_gives_the_golden_coefficients_one_pair_an_interval"
    "[three multipliers-pipelined]"
)
FLOAT_LANE = "tests/hdl/test_float_adder_lane.py::"
FRAMED = (
    f"{TRAFFIC}test_packets_that_end_early_or_late_are_well_framed_and_marked_and_harm_no_other"
    "[0-half-split]"
)

# The mistakes that ports of rotary embedding make, where each would live here.
CLASSIC = [
    Mutant(
        "decode off by one, golden",
        "golden/sincos.py",
        "    return phases_of(positions[:, np",
        "    return phases_of(1 + positions[:, np",
        LLAMA,
    ),
    Mutant(
        "decode off by one, hardware",
        "hdl/row_generator.py",
        "job.position.position[axis] + job.position.conjugate",
        "job.position.position[axis] + 1",
        FLAGS,
    ),
    Mutant(
        "V rotated, from a config",
        "golden/rope_config.py",
        'turns_v = trailing or config.flag("rotary_value")',
        "turns_v = True",
        LLAMA,
    ),
    Mutant(
        "V rotated, golden",
        "golden/rotation.py",
        "turned = table.pattern.rotates & ~scaled",
        "turned = np.ones_like(table.pattern.rotates) & ~scaled",
        LLAMA,
    ),
    Mutant(
        "V rotated, hardware",
        "hdl/heads.py",
        "turns.eq(token.rotates & _of(kind, pattern.rotated))",
        "turns.eq(token.rotates)",
        HEADS,
    ),
    Mutant(
        "d_model for head_dim in the exponent",
        "golden/schedules.py",
        "    step = theta.ln() * -2 / dim\n",
        "    step = theta.ln() * -2 / (32 * dim)\n",
        LLAMA,
    ),
    Mutant(
        "K by the query head count",
        "golden/geometry.py",
        "HeadPattern(self.heads, self.kv_heads, self.kv_heads,",
        "HeadPattern(self.heads, self.heads, self.kv_heads,",
        LLAMA,
    ),
    Mutant(
        "adjacent for half-split, from a config",
        "golden/geometry.py",
        "            pairing=self.pairing,\n",
        "            pairing=Pairing.ADJACENT,\n",
        LLAMA,
    ),
    Mutant(
        "adjacent for half-split, golden",
        "golden/rotation.py",
        "if table.pairing is Pairing.ADJACENT:",
        "if table.pairing is Pairing.HALF_SPLIT:",
        "tests/golden/test_rotation.py::test_a_quarter_turn_moves_the_first_element_to_its_partner",
    ),
    Mutant(
        "adjacent for half-split, hardware",
        "hdl/phase_table.py",
        "header.half_split.eq(word[0])",
        "header.half_split.eq(0)",
        HALF_SPLIT,
    ),
    Mutant(
        "linear in place of YaRN",
        "golden/rope_types.py",
        '"yarn": RopeType(yarn.yarn, YARN, ',
        '"yarn": RopeType(schedules.linear, FACTOR, ',
        QWEN,
    ),
    Mutant(
        "table index wrapped at 65536, golden",
        "golden/sincos.py",
        "    if conjugate:\n        positions = -positions\n",
        "    positions = positions % 65536\n",
        LLAMA,
    ),
    Mutant(
        "table index wrapped at 65536, hardware",
        "hdl/phase_generator.py",
        "return (position[:LIMB], position[LIMB:].as_signed()), [",
        "return (position[:LIMB], C(0, signed(len(position) - LIMB))), [",
        f"{PHASE}[pipelined-26]",
    ),
    Mutant(
        "amplitude applied twice, from a config",
        "golden/geometry.py",
        "amplitude_code(self.attention_factor) if",
        "amplitude_code(self.attention_factor**2) if",
        QWEN,
    ),
    Mutant(
        "amplitude applied twice, golden",
        "golden/sincos.py",
        "return round_half_up(raw + product,",
        "return round_half_up(raw + 2 * product,",
        QWEN,
    ),
    Mutant(
        "amplitude applied twice, hardware",
        "hdl/amplitude.py",
        "self._product_drop = 2 * bits - RAW_FRACTION_BITS",
        "self._product_drop = 2 * bits - RAW_FRACTION_BITS - 1",
        COEFFICIENTS,
    ),
]

NUMBERS = [
    Mutant(
        "phase truncated",
        "golden/sincos.py",
        "(turns + np.uint64(1 << dropped - 1)) >> np.uint64(dropped)",
        "turns >> np.uint64(dropped)",
        f"{SINCOS}test_a_phase_is_the_exact_product_rounded_once[4095]",
    ),
    Mutant(
        "rotation truncated",
        "golden/rotation.py",
        "np.floor(np.add(turned, 0.5, out=turned), out=turned)",
        "np.floor(turned, out=turned)",
        f"{ACCURACY}test_corner_pairs_at_all_phases_are_within_one_lsb",
    ),
    Mutant(
        "quadrant sign wrong, golden",
        "golden/sincos.py",
        "np.where((quadrant == 1) | (quadrant == 2), -cosine, cosine)",
        "np.where(quadrant == 2, -cosine, cosine)",
        f"{SINCOS}test_the_quadrants_are_exact_quarter_turns_of_the_first[1]",
    ),
    Mutant(
        "conjugate that does not turn back",
        "golden/sincos.py",
        "        positions = -positions\n",
        "        positions = +positions\n",
        f"{SINCOS}test_the_conjugate_is_the_negated_position",
    ),
    Mutant(
        "samples at whole steps",
        "golden/sincos.py",
        "(np.arange(steps) + 0.5)",
        "np.arange(steps)",
        f"{SINCOS}test_sine_and_cosine_are_within_their_bound_of_exact_at_every_phase",
    ),
    Mutant(
        "a larger unscaled code",
        "golden/table.py",
        "LARGEST_UNSCALED_CODE = 108582",
        "LARGEST_UNSCALED_CODE = 108583",
        f"{ACCURACY}test_cos_and_sin_together_fit_their_word_up_to_the_largest_unscaled_code"
        "_and_no_further",
    ),
    Mutant(
        "mirror address off by one",
        "hdl/sincos.py",
        "rom.b_address.eq(~self._address())",
        "rom.b_address.eq(-self._address())",
        f"{SINES}[pipelined]",
    ),
    Mutant(
        "quadrant sign wrong, three multipliers",
        "hdl/rotator.py",
        "v_negative.eq(quadrant[1])",
        "v_negative.eq(quadrant[0])",
        THREE,
    ),
    Mutant(
        "rounding dropped, three multipliers",
        "hdl/rotator.py",
        "Cat(held.scale, ~held.scale)",
        "Cat(C(0, 1), ~held.scale)",
        THREE,
    ),
    Mutant(
        "results that wrap",
        "hdl/fixed.py",
        "return Mux(overflows(value, bits), Mux(value[-1], low, high), value[:bits].as_signed())",
        "return value[:bits].as_signed()",
        FOUR,
    ),
    Mutant(
        "rounding dropped, phase",
        "hdl/phase_generator.py",
        "HALF = 1 << INCREMENT_BITS - PHASE_BITS - 1",
        "HALF = 0",
        f"{PHASE}[serial-8]",
    ),
    Mutant(
        "a column that leaves nothing to the next",
        "hdl/phase_generator.py",
        "over.eq(Mux(first | second, total[LIMB:], 0))",
        "over.eq(Mux(first, total[LIMB:], 0))",
        f"{PHASE}[shared-26]",
    ),
    Mutant(
        "a digit's carry dropped",
        "hdl/digits.py",
        "high & (low | carry)",
        "high & low",
        "tests/hdl/test_serial_products.py::test_products_come_a_latency_later_and_stay[modulo]",
    ),
    Mutant(
        "sin that is small at an eighth of a turn missed",
        "hdl/sincos.py",
        "low | lowest",
        "low",
        f"{SINES}[shared]",
    ),
]

FLOW = [
    Mutant(
        "bank flip rule dropped",
        "hdl/walker.py",
        "split & second & ~shape.odd",
        "C(0)",
        HALF_SPLIT,
    ),
    Mutant(
        "an operation that goes a beat early",
        "hdl/ledger.py",
        "self.enough_after.eq(~less[-1])",
        "self.enough_after.eq(~balance[-1])",
        HALF_SPLIT,
    ),
    Mutant(
        "credit never checked",
        "hdl/sequencer.py",
        "spacious.eq(room > 3)",
        "spacious.eq(1)",
        f"{TRAFFIC}test_traffic_changes_nothing_but_time[results not taken for long]",
    ),
    Mutant(
        "a beat gone on from before it is taken",
        "hdl/drain.py",
        "(asks & goes_on) | ~valid",
        "asks | ~valid",
        f"{TRAFFIC}test_traffic_changes_nothing_but_time[results hardly taken]",
    ),
    Mutant(
        "row released early",
        "hdl/sequencer.py",
        "self.row_released.eq(begins & held)",
        "self.row_released.eq(begins)",
        f"{TRAFFIC}test_traffic_changes_nothing_but_time[results hardly taken]",
    ),
    Mutant(
        "V by the coefficients of a row",
        "hdl/engine.py",
        '"negative": 1}',
        '"negative": 0}',
        ADJACENT,
    ),
    Mutant(
        "slot busy check dropped",
        "hdl/phase_table.py",
        "(self.busy & slot_bit).any()",
        "C(0)",
        f"{SLOTS}test_writing_a_busy_slot_is_refused_and_its_tokens_are_exact",
    ),
    Mutant(
        "positions accepted while their slot is loaded",
        "hdl/phase_table.py",
        "self.loaded.eq(self.holds & ~closed)",
        "self.loaded.eq(self.holds)",
        f"{SLOTS}test_a_load_that_races_with_a_position_is_refused_or_waited_for",
    ),
    Mutant(
        "sharing not invalidated on reload",
        "hdl/intake.py",
        "with m.If(stale):",
        "with m.If(C(0)):",
        f"{SLOTS}test_a_row_is_not_shared_across_a_load_of_its_slot[0-later]",
    ),
    Mutant(
        "a row shared by every token",
        "hdl/intake.py",
        "own_row = ~shares.all()",
        "own_row = ~shares[0]",
        f"{SLOTS}test_a_shared_row_is_that_of_the_same_position_slot_and_flags_alone",
    ),
    Mutant(
        "conjugate ignored",
        "hdl/engine.py",
        ".eq(given ^ backwards)",
        ".eq(given)",
        FLAGS,
    ),
    Mutant(
        "amplitude kept in a pure shift",
        "hdl/row_generator.py",
        "with m.If(early.pure):",
        "with m.If(C(0)):",
        FLAGS,
    ),
    Mutant(
        "a short packet padded with what is at the port",
        "hdl/framer.py",
        "beat &= ~padding.replicate(len(beat))",
        "pass",
        FRAMED,
    ),
    Mutant(
        "late packets not marked",
        "hdl/framer.py",
        "bad.eq(padding | ~given.last)",
        "bad.eq(padding)",
        FRAMED,
    ),
    Mutant(
        "images not judged",
        "hdl/phase_table.py",
        "good.eq(waited(whole & ~wrong & ~strange.any() & served))",
        "good.eq(1)",
        "tests/hdl/test_phase_table.py::"
        "test_what_is_no_image_leaves_its_slot_unloaded_and_all_others_as_they_are[another magic]",
    ),
    Mutant(
        "a geometry beyond its head served",
        "hdl/phase_table.py",
        "            fits,\n",
        "",
        "tests/hdl/test_phase_table.py::"
        "test_what_is_no_image_leaves_its_slot_unloaded_and_all_others_as_they_are"
        "[a rotary part beyond the head]",
    ),
    Mutant(
        "an item lost in a full queue",
        "hdl/queue.py",
        "self.room.eq(kept <= self._depth - MARGIN)",
        "self.room.eq(1)",
        "tests/hdl/test_queue.py::"
        "test_items_come_out_in_their_order[distributed-16-1-False-False-0.0-0.5]",
    ),
]

RUN = "tests/cli/test_run_additive.py::"
WORKER = f"{RUN}test_a_worker_s_scores_take_its_own_slopes"
SCORES = f"{RUN}test_scores_are_biased_by_the_effective_slopes"
SLOPES = "tests/golden/test_additive.py::test_slopes_are_those_of_press_and_of_mpt"
LISTED = f"{RUN}test_a_learned_row_is_added_and_a_position_outside_is_listed"
ROWS = f"{RUN}test_a_sinusoidal_row_is_added_to_words"
ALIBI = "tests/sim/test_alibi.py::test_every_score_is_golden_s"
TEMPERATURE = "tests/sim/test_engine_temperature.py::"
COUNTED = "tests/golden/test_alibi.py::test_an_unsaturated_bias_is_within_half_an_lsb_at_16_million"

# The mistakes that ports of the additive encodings make.
ADDITIVE = [
    Mutant(
        "slope by local head index under tensor parallelism, golden",
        "golden/additive.py",
        "self.model_slopes[self.first_head : self.first_head + self.heads]",
        "self.model_slopes[: self.heads]",
        WORKER,
    ),
    Mutant(
        "slope by local head index under tensor parallelism, hardware",
        "sim/simulate_additive.py",
        "geometry.first_head + head,",
        "head,",
        WORKER,
    ),
    Mutant(
        "slopes of the next power of two of heads",
        "golden/additive.py",
        "power = 1 << heads.bit_length() - 1",
        "power = 1 << (heads - 1).bit_length()",
        f"{SLOPES}[12]",
    ),
    Mutant(
        "slopes of a worker's share of the heads",
        "golden/additive.py",
        "return replace(self, heads=share, first_head=self.first_head + rank * share)",
        "return replace(self, heads=share, model_slopes=alibi_slopes(share))",
        WORKER,
    ),
    Mutant(
        "ALiBi distance off by one, golden",
        "golden/alibi.py",
        "difference = keys - queries[:, None]",
        "difference = keys - queries[:, None] - 1",
        f"{COUNTED}[8-8]",
    ),
    Mutant(
        "ALiBi distance off by one, hardware",
        "hdl/alibi_starts.py",
        "offset.eq(segment.key - Mux(segment.key_only, 0, segment.query))",
        "offset.eq(segment.key - Mux(segment.key_only, 0, segment.query) + 1)",
        f"{SCORES}[alibi-6-causal-sim]",
    ),
    Mutant(
        "a start taken for a step where it is none",
        "hdl/alibi_starts.py",
        "next_.eq(last.known & (away == 1))",
        "next_.eq(last.known)",
        f"{SCORES}[alibi-6-causal-sim]",
    ),
    Mutant(
        "last starts kept over a load",
        "hdl/alibi_starts.py",
        "starts.write_enable.eq(self.write | store)",
        "starts.write_enable.eq(store)",
        "tests/sim/test_alibi.py::test_a_start_is_not_remembered_over_a_load",
    ),
    Mutant(
        "an accumulator's carry lost",
        "hdl/alibi_lanes.py",
        "carry = total[-1]",
        "carry = C(0, 1)",
        f"{ALIBI}[8 lanes, 32 bits-steady]",
    ),
    Mutant(
        "later keys not folded",
        "hdl/alibi_lanes.py",
        "folds = delayed(m, beat.folds, 1",
        "folds = delayed(m, C(0), 1",
        f"{ALIBI}[4 lanes, 12 bits-steady]",
    ),
    Mutant(
        "the first masked key seen",
        "golden/alibi.py",
        "hidden |= distance < 0",
        "hidden |= distance < -1",
        f"{SCORES}[alibi-6-causal-golden]",
    ),
    Mutant(
        "learned offset off by one, from a config",
        "golden/additive_config.py",
        '["opt", "bart", "mbart"], Learned(offset=2',
        '["opt", "bart", "mbart"], Learned(offset=1',
        f"{RUN}test_a_learned_offset_is_the_model_s",
    ),
    Mutant(
        "learned offset off by one, hardware",
        "hdl/learned_table.py",
        "row.eq(places.payload.position + offset)",
        "row.eq(places.payload.position + offset + 1)",
        f"{LISTED}[sim]",
    ),
    Mutant(
        "table row wrapped, golden",
        "golden/learned.py",
        "return (rows < 0) | (rows >= geometry.rows)",
        "return rows >= geometry.rows",
        f"{LISTED}[golden]",
    ),
    Mutant(
        "table row wrapped, hardware",
        "hdl/learned_table.py",
        "request.good.eq(below & ~row[-1])",
        "request.good.eq(1)",
        "tests/sim/test_learned_adder.py::"
        "test_every_sum_from_block_ram_is_golden_s[4 lanes-72-1-steady]",
    ),
    Mutant(
        "sines and cosines exchanged, hardware",
        "hdl/sinusoidal_adder.py",
        'rows.shape.cosine.eq(layout == LAYOUTS.index("cos-sin"))',
        'rows.shape.cosine.eq(layout == LAYOUTS.index("sin-cos"))',
        f"{ROWS}[fairseq-sim]",
    ),
    Mutant(
        "sinusoidal offset left out, golden",
        "golden/sinusoidal.py",
        "[:, None] + geometry.offset",
        "[:, None]",
        f"{ROWS}[fairseq-sim]",
    ),
    Mutant(
        "embedding not scaled",
        "golden/sinusoidal.py",
        "scale = scale_word(geometry.scale)",
        "scale = scale_word(1.0)",
        f"{RUN}test_floats_come_back_as_sums_in_their_own_units[float32]",
    ),
    Mutant(
        "temperature on keys",
        "hdl/query_rows.py",
        "with m.If(others | ~pairs.queries):",
        "with m.If(~pairs.queries):",
        f"{TEMPERATURE}test_every_pattern_keeps_its_rows_apart[64]",
    ),
    Mutant(
        "no temperature where queries do not turn",
        "hdl/heads.py",
        "scaled.tempered.eq(tempered & is_query)",
        "scaled.tempered.eq(0)",
        f"{TEMPERATURE}test_every_pattern_keeps_its_rows_apart[0]",
    ),
    Mutant(
        "bits lost in aligning a float's smaller term",
        "hdl/float_sum.py",
        "amount)\n",
        "amount)\n        sticky = C(0)\n",
        f"{FLOAT_LANE}test_two_words_are_added_every_clock_as_golden_does[bf16]",
    ),
    Mutant(
        "a passing infinity counts as an overflow",
        "hdl/float_rounder.py",
        "beyond = ~passes & (",
        "beyond = (",
        f"{FLOAT_LANE}test_two_words_are_added_every_clock_as_golden_does[bf16]",
    ),
]

MUTANTS = [*CLASSIC, *NUMBERS, *FLOW, *ADDITIVE]
