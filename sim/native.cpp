// SPDX-License-Identifier: Apache-2.0
// Streams blocks of words through a verilated model; sim/native_driver.py calls it.

#include <cstdint>
#include <cstring>
#include <vector>

#include "Vmodel.h"
#include "ports.h" // PORTS(port): the model's ports, as port(name, bits) each

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a port is copied from 32-bit words");

namespace {

// A port, as 32-bit words, the lowest first.
struct Port {
  char *at;
  size_t bytes, bits;

  size_t words() const { return (bits + 31) / 32; }

  void set(const uint32_t *from) const { // what lies above its bits must stay 0
    size_t whole = 4 * (words() - 1);
    uint32_t top = from[words() - 1] & (~uint32_t{0} >> (31 - (bits - 1) % 32));
    std::memcpy(at, from, whole);
    std::memcpy(at + whole, &top, bytes - whole);
  }

  void get(uint32_t *to) const {
    to[words() - 1] = 0;
    std::memcpy(to, at, bytes);
  }
};

// A stream and what it is to do in a run; mirrored in sim/native_driver.py.
struct Stream {
  const int32_t *parts; // ports of the payload; an item is the words of each, one after the other
  int32_t part_count, valid, ready;
  int32_t source;   // whether items go in here
  int64_t last_bit; // the bit of an item that ends a packet; -1 where nothing does
  uint64_t pause;   // of 2^32 clocks, those in which an idle stream stays so
  uint64_t seed;
  const uint32_t *items; // of a source
  uint64_t count;        // of them; of a sink: what must come out
  int32_t counts_packets;
  const uint64_t *after; // an item is offered when so many have moved in another stream
  int32_t after_stream, after_packets;
};

enum Outcome : int32_t { DONE, STOPPED, STUCK, BROKEN };

class Channel { // one stream in a run
public:
  Channel(const Stream &stream, const std::vector<Port> &ports)
      : stream(stream), valid(*ports[stream.valid].at), ready(*ports[stream.ready].at),
        state(stream.seed) {
    for (int32_t part = 0; part < stream.part_count; part++) {
      parts.push_back(ports[stream.parts[part]]);
      words += parts.back().words();
    }
    item.resize(words);
    held.resize(words);
  }

  uint64_t moved(bool in_packets) const { return in_packets ? packets : clocks.size(); }

  bool done() const { return moved(stream.counts_packets) >= stream.count; }

  // Before a clock: an item on the port where one is due, or a readiness to take one.
  void offer(const std::vector<Channel> &channels) {
    if (!stream.source) {
      ready = open();
    } else if (!valid && clocks.size() < stream.count && released(channels) && open()) {
      const uint32_t *from = stream.items + clocks.size() * words;
      for (const Port &part : parts) {
        part.set(from);
        from += part.words();
      }
      valid = 1;
    }
  }

  // What stands at the clock's edge; false where the stream's rules are broken.
  bool sample() {
    taken = valid && ready;
    if (stream.source || !(valid || waiting))
      return true;
    uint32_t *to = item.data();
    for (const Port &part : parts) {
      part.get(to);
      to += part.words();
    }
    bool holds = !waiting || (valid && item == held);
    waiting = valid && !ready;
    if (waiting)
      held = item;
    return holds;
  }

  // After the edge; whether an item moved in clock `now`.
  bool clock(uint64_t now) {
    if (!taken)
      return false;
    const uint32_t *moving = item.data();
    if (stream.source) {
      moving = stream.items + clocks.size() * words;
      valid = 0;
    } else {
      items.insert(items.end(), item.begin(), item.end());
    }
    if (stream.last_bit >= 0)
      packets += moving[stream.last_bit / 32] >> stream.last_bit % 32 & 1;
    clocks.push_back(now);
    return true;
  }

  void leave() { (stream.source ? valid : ready) = 0; }

  std::vector<uint32_t> items;
  std::vector<uint64_t> clocks;
  uint64_t packets = 0;

private:
  bool open() { // xorshift64*
    if (!stream.pause)
      return true;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull >> 32 >= stream.pause;
  }

  bool released(const std::vector<Channel> &channels) const {
    return !stream.after || channels[stream.after_stream].moved(stream.after_packets) >=
                                stream.after[clocks.size()];
  }

  Stream stream;
  char &valid, &ready;
  uint64_t state;
  std::vector<Port> parts;
  size_t words = 0;
  std::vector<uint32_t> item, held;
  bool waiting = false, taken = false;
};

class Model {
  VerilatedContext context;
  Vmodel top{&context};

  void level(int clock) {
    top.clk = clock;
    top.eval();
  }

public:
  std::vector<Port> ports{
#define PORT(name, bits) {reinterpret_cast<char *>(&top.name), sizeof top.name, bits},
      PORTS(PORT)};
  std::vector<Channel> channels; // of the last run

  void settle() { level(0); }

  void edge() { level(1); }
};

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Model *model_new() {
  auto *model = new Model;
  model->settle();
  return model;
}

EXPORT void model_delete(Model *model) { delete model; }

EXPORT void model_set(Model *model, int32_t port, const uint32_t *words) {
  model->ports[port].set(words);
}

EXPORT void model_get(Model *model, int32_t port, uint32_t *words) {
  model->settle();
  model->ports[port].get(words);
}

EXPORT void model_step(Model *model, uint64_t clocks) {
  for (; clocks; clocks--) {
    model->settle();
    model->edge();
  }
}

// Clocks until every stream has done its share; or `limit` of them, or none moved for `timeout`, or
// a stream broke its rules, which `broken` then names. `clock` becomes how many clocks passed.
EXPORT int32_t model_run(Model *model, const Stream *streams, int32_t count, uint64_t limit,
                         uint64_t timeout, uint64_t *clock, int32_t *broken) {
  std::vector<Channel> &channels = model->channels;
  channels.clear();
  for (int32_t number = 0; number < count; number++)
    channels.emplace_back(streams[number], model->ports);
  auto done = [&channels] {
    for (const Channel &channel : channels)
      if (!channel.done())
        return false;
    return true;
  };

  uint64_t now = 0, moved_at = 0;
  Outcome outcome = done() ? DONE : STOPPED;
  for (; outcome == STOPPED && now < limit; now++) {
    for (Channel &channel : channels)
      channel.offer(channels);
    model->settle();
    for (int32_t number = 0; number < count; number++)
      if (!channels[number].sample()) {
        outcome = BROKEN;
        *broken = number;
      }
    model->edge();
    bool moved = false;
    for (Channel &channel : channels) { // what moves beyond its share is no progress
      bool wanted = !channel.done();
      moved |= channel.clock(now) && wanted;
    }
    if (moved)
      moved_at = now;
    if (outcome == STOPPED && moved && done())
      outcome = DONE;
    else if (outcome == STOPPED && now - moved_at >= timeout)
      outcome = STUCK;
  }
  for (Channel &channel : channels)
    channel.leave();
  *clock = now;
  return outcome;
}

// What moved in a stream of the last run: how much, each item's clock, and a sink's items.
EXPORT uint64_t model_moved(Model *model, int32_t stream, int32_t in_packets) {
  return model->channels[stream].moved(in_packets);
}

EXPORT const uint64_t *model_clocks(Model *model, int32_t stream) {
  return model->channels[stream].clocks.data();
}

EXPORT const uint32_t *model_items(Model *model, int32_t stream) {
  return model->channels[stream].items.data();
}

#include "native_serial.h"
