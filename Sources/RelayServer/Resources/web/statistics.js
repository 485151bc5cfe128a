/** How many samples are kept: two minutes of them. */
export const capacity = 120;
const interval = 1_000;

/**
 * What arrives, measured once a second, beside what the relay says it sends.
 *
 * Events: `sample`. A sample has `time` (ms), `receivedBitRate`, `targetBitRate`, `sentBitRate` (bit/s),
 * `roundTripTime` (ms), `loss` (0 to 1), `frameRate`, `sentFrameRate`, `freezes` (begun since the sample before),
 * `frozenTime` (s), `width`, `height`, `playoutDelay` (ms), `undecoded` (0 to 1, pictures this device could not keep up
 * with) and `relay` (the relay's own words). What is not known is null.
 */
export class Statistics extends EventTarget {
  samples = [];
  #call;
  #timer = null;
  #before = null;

  /** @param {import('./call.js').Call} call */
  constructor(call) {
    super();
    this.#call = call;
    this.#timer = setInterval(() => this.#measure(), interval);
  }

  get latest() { return this.samples.at(-1) ?? null; }

  close() { clearInterval(this.#timer); }

  async #measure() {
    const report = await this.#call.getStats();
    const now = read(report);
    const before = this.#before;
    this.#before = now;
    // Another connection counts from zero.
    const isFirst = !before || !now || before.id !== now.id || now.bytes < before.bytes;
    const sample = isFirst ? unknown() : difference(before, now);
    this.samples.push({ ...sample, ...fromRelay(this.#call.room?.statistics ?? null), time: performance.now() });
    if (this.samples.length > capacity) this.samples.shift();
    this.dispatchEvent(new Event('sample'));
  }
}

function unknown() {
  return {
    receivedBitRate: null, roundTripTime: null, loss: null, frameRate: null, freezes: 0, frozenTime: 0, width: null,
    height: null, playoutDelay: null, undecoded: null,
  };
}

/** The counters of one report that matter here. */
function read(report) {
  let result = null;
  let bytes = 0;
  let pair = null;
  for (const entry of report.values()) {
    if (entry.type === 'inbound-rtp') {
      bytes += entry.bytesReceived ?? 0;
      if (entry.kind === 'video') result = entry;
    } else if (entry.type === 'candidate-pair' && entry.nominated && entry.state === 'succeeded') {
      if (!pair || (entry.bytesReceived ?? 0) >= (pair.bytesReceived ?? 0)) pair = entry;
    }
  }
  if (!result) return null;
  return { ...result, bytes, roundTripTime: pair?.currentRoundTripTime };
}

function difference(before, now) {
  const seconds = (now.timestamp - before.timestamp) / 1000;
  if (!(seconds > 0)) return unknown();
  const change = (key) => Math.max(0, (now[key] ?? 0) - (before[key] ?? 0));
  const received = change('packetsReceived');
  const lost = change('packetsLost');
  const decoded = change('framesDecoded');
  const dropped = change('framesDropped');
  const emitted = change('jitterBufferEmittedCount');
  return {
    receivedBitRate: (now.bytes - before.bytes) * 8 / seconds,
    roundTripTime: now.roundTripTime === undefined ? null : now.roundTripTime * 1000,
    loss: received + lost > 0 ? lost / (received + lost) : 0,
    frameRate: decoded / seconds,
    freezes: change('freezeCount'),
    frozenTime: change('totalFreezesDuration'),
    width: now.frameWidth ?? null,
    height: now.frameHeight ?? null,
    playoutDelay: emitted > 0 ? change('jitterBufferDelay') / emitted * 1000 : null,
    undecoded: decoded + dropped > 0 ? dropped / (decoded + dropped) : 0,
  };
}

function fromRelay(relay) {
  return {
    relay,
    targetBitRate: relay?.targetBitRate ?? null,
    sentBitRate: relay?.bitRate ?? null,
    sentFrameRate: relay?.frameRate ?? null,
  };
}
