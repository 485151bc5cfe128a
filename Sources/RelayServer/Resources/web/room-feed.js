import { proofHeaders, retryAfter } from './signalling.js';

/** The relay says something every 5 seconds at least. */
const longestSilence = 15_000;

/**
 * The room's server-sent events, read by `fetch`: `EventSource` sends no `Authorization`.
 *
 * Events: `message` (a `CustomEvent` with `{name, data}`), `lost` when the connection is gone. It does not come back by
 * itself: who listens finds out first whether the call is still there.
 */
export class RoomFeed extends EventTarget {
  isLost = false;
  /** In how many seconds the relay wants to be asked again; 0 where it does not say. */
  retryAfter = 0;
  #began = performance.now();
  #abort = new AbortController();

  /** @param {string} key The key of one's session. */
  constructor(url, key) {
    super();
    this.#read(url, key).catch(() => {}).then(() => {
      if (this.#abort.signal.aborted) return;
      this.close();
      this.isLost = true;
      this.dispatchEvent(new Event('lost'));
    });
  }

  async #read(url, key) {
    const headers = { Accept: 'text/event-stream', ...proofHeaders(key) };
    const response = await inTime(fetch(url, { headers, cache: 'no-store', signal: this.#abort.signal }));
    if (!response.ok) {
      this.retryAfter = retryAfter(response) ?? 0;
      return;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      text += value;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) this.#take(event);
    }
  }

  /** One event: lines of `field: value` (HTML, section 9.2); the relay writes each field on one line. */
  #take(text) {
    const fields = Object.fromEntries(text.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }));
    if (!fields.event || !fields.data) return;
    try {
      const detail = { name: fields.event, data: JSON.parse(fields.data) };
      this.dispatchEvent(new CustomEvent('message', { detail }));
    } catch {
      // An event that cannot be read says nothing.
    }
  }

  /** For how long it has been asked for and read, in milliseconds. */
  get age() { return performance.now() - this.#began; }

  close() { this.#abort.abort(); }
}

/** Awaits what comes before the silence is too long: a connection may die without a sign, as in another network. */
async function inTime(promise) {
  let timer;
  const silence = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the events ceased')), longestSilence);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
}
