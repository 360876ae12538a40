// SPDX-License-Identifier: Apache-2.0
// A serial line on two ports of a verilated model; sim/native_serial.py calls it.

#pragma once

// 8 data bits, no parity, 1 stop bit, each so many clocks, which need be no whole number.
struct Line {
  char &rx, &tx;
  double bit;
  uint64_t now = 0;    // clocks that have passed
  uint64_t moved = 0;  // the last of them in which a line was not idle
  uint32_t frame = 0;  // bits still to be sent, below a 1
  double ends = 0;     // when the one on the line does
  bool listens = true; // for a start bit
  double looks = 0;    // when the next bit is looked at
  uint32_t seen = 0;   // bits, above a 1

  // Before a clock: the level of rx; whether a byte was taken.
  bool drive(const uint8_t *byte) {
    bool taken = false;
    if (frame && now >= ends) {
      frame >>= 1;
      if (frame > 1)
        ends += bit;
      else
        frame = 0;
    }
    if (!frame && byte) {
      frame = 1 << 10 | 1 << 9 | *byte << 1; // its end, the stop bit, the data, the start bit
      if (now > ends)
        ends = now;
      ends += bit;
      taken = true;
    }
    rx = frame ? frame & 1 : 1;
    if (frame)
      moved = now;
    return taken;
  }

  // At a clock's edge: what tx says; whether a byte is whole.
  bool listen(uint8_t *byte) {
    if (listens && !tx) {
      listens = false;
      looks = now + bit / 2;
      seen = 1;
    }
    if (listens)
      return false;
    moved = now;
    if (now < looks)
      return false;
    looks += bit;
    seen = seen << 1 | tx;
    if (!(seen >> 10)) // start and data
      return false;
    listens = true;
    *byte = 0;
    for (int n = 0; n < 8; n++)
      *byte |= (seen >> (8 - n) & 1) << n;
    return seen & 1; // without a stop bit it is none
  }
};

EXPORT Line *serial_new(Model *model, int32_t rx, int32_t tx, double bit) {
  auto *line = new Line{*model->ports[rx].at, *model->ports[tx].at, bit};
  line->rx = 1;
  return line;
}

EXPORT void serial_delete(Line *line) { delete line; }

// Clocks until `clocks` of them have passed, or nothing has moved for `quiet` and all was sent, or
// there is no room. `count` bytes are to be sent, of which `taken` were; `given` came.
EXPORT uint64_t serial_run(Model *model, Line *line, uint64_t clocks, uint64_t quiet,
                           const uint8_t *bytes, uint64_t count, uint64_t *taken, uint8_t *found,
                           uint64_t room, uint64_t *given) {
  uint64_t begun = line->now;
  *taken = *given = 0;
  while (line->now - begun < clocks && *given < room &&
         (*taken < count || line->now - line->moved < quiet)) {
    *taken += line->drive(*taken < count ? bytes + *taken : nullptr);
    model->settle();
    *given += line->listen(found + *given);
    model->edge();
    line->now++;
  }
  return line->now - begun;
}
