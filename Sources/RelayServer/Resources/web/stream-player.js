import { beginning, isBehind, readIndex, readPlaylist } from './hls-playlist.js';
import { proofHeaders } from './signalling.js';

/** Pictures that were shown so long ago are forgotten, in seconds. */
const kept = 15;
/** How far behind the newest piece playback is to be, and from where on it jumps, in seconds. */
const aim = 1.1;
const tooFar = 4;
const catchUp = 1.08;
const pause = 1000;

/**
 * Plays a live stream of the relay in a video element, by Media Source Extensions: few browsers play HLS by themselves.
 *
 * Events: `state` (`waiting`, `refused`, `playing`, `paused`, `ended`, `unplayable` with the codecs), `latency`
 * (seconds since the picture was made, by this machine's clock).
 */
export class StreamPlayer extends EventTarget {
  #video;
  #base;
  #stop = new AbortController();
  #buffer = null;
  #source = null;
  #last = null;
  #map = null;
  /** Pairs of media time and wall clock, of the pieces in the buffer. */
  #dates = [];
  /** True while the viewer has paused, by the video's own controls. */
  #isPaused = false;

  /** @param {string} base The path of the stream's files, with a slash behind it. */
  constructor(video, base) {
    super();
    this.#video = video;
    this.#base = base;
    const { signal } = this.#stop;
    // A video also pauses at its end.
    video.addEventListener('pause', () => { this.#isPaused = this.#buffer !== null && !video.ended; }, { signal });
    video.addEventListener('play', () => { this.#isPaused = false; }, { signal });
  }

  /** Plays until `stop`, and waits where there is no stream. */
  async play() {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#playOnce();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#say([401, 403].includes(error.cause?.status) ? 'refused' : 'waiting', error);
      }
      this.#release();
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }

  stop() {
    this.#stop.abort();
    this.#release();
  }

  #say(state, detail = null) { this.dispatchEvent(new CustomEvent('state', { detail: { state, detail } })); }

  async #fetch(name) {
    const response = await fetch(`${this.#base}${name}`, { headers: proofHeaders(), signal: this.#stop.signal });
    if (!response.ok) throw new Error(`${response.status}`, { cause: response });
    return response;
  }

  async #playOnce() {
    const index = readIndex(await (await this.#fetch('index.m3u8')).text());
    const type = `video/mp4; codecs="${index?.codecs}"`;
    if (!index || !globalThis.MediaSource?.isTypeSupported(type)) {
      this.#say('unplayable', index?.codecs);
      return;
    }
    let playlist = readPlaylist(await (await this.#fetch(index.uri)).text());
    await this.#open(type);
    let pieces = playlist.pieces.slice(beginning(playlist));
    for (;;) {
      for (const piece of pieces) await this.#append(piece);
      if (playlist.hasEnded) break;
      const hasPaused = await this.#endOfPause();
      const { segment, part } = playlist.next;
      playlist = readPlaylist(await (await this.#fetch(`${index.uri}?_HLS_msn=${segment}&_HLS_part=${part}`)).text());
      pieces = playlist.pieces.filter((piece) => isBehind(piece, this.#last));
      // Too slow: what comes next is not offered any more.
      const isLate = pieces[0] && pieces[0].segment > (this.#last?.segment ?? 0) + 1;
      if (hasPaused || isLate) {
        pieces = playlist.pieces.slice(beginning(playlist)).filter((piece) => isBehind(piece, this.#last));
      }
    }
    if (this.#source?.readyState === 'open') this.#source.endOfStream();
    this.#say('ended');
    await new Promise((resolve) => {
      this.#video.addEventListener('ended', resolve, { once: true });
      setTimeout(resolve, 10 * pause);
    });
  }

  /** Waits while the viewer pauses, in which nothing is fetched that would have to be kept. True if it waited. */
  async #endOfPause() {
    if (!this.#isPaused) return false;
    this.#say('paused');
    await new Promise((resolve) => {
      this.#video.addEventListener('play', resolve, { once: true });
      this.#stop.signal.addEventListener('abort', resolve, { once: true });
    });
    return true;
  }

  async #open(type) {
    this.#source = new MediaSource();
    this.#video.src = URL.createObjectURL(this.#source);
    await new Promise((resolve) => { this.#source.addEventListener('sourceopen', resolve, { once: true }); });
    URL.revokeObjectURL(this.#video.src);
    this.#buffer = this.#source.addSourceBuffer(type);
    [this.#last, this.#map, this.#dates] = [null, null, []];
  }

  async #append(piece) {
    if (piece.map !== this.#map) {
      await this.#feed(await (await this.#fetch(piece.map)).arrayBuffer());
      this.#map = piece.map;
    }
    const ranges = this.#buffer.buffered;
    const before = ranges.length ? ranges.end(ranges.length - 1) : null;
    await this.#feed(await (await this.#fetch(piece.uri)).arrayBuffer());
    this.#last = piece;
    if (piece.date !== null && before !== null) this.#dates.push({ time: before, date: piece.date });
    this.#follow();
    if (this.#video.currentTime > 2 * kept) {
      await this.#change(() => this.#buffer.remove(0, this.#video.currentTime - kept));
    }
  }

  #feed(bytes) { return this.#change(() => this.#buffer.appendBuffer(bytes)); }

  /** Changes the buffer, and waits until that is done. */
  async #change(change) {
    const buffer = this.#buffer;
    // The one that is not called must not stay: a page may be open for days.
    const listening = new AbortController();
    const done = new Promise((resolve, reject) => {
      buffer.addEventListener('updateend', resolve, { signal: listening.signal });
      buffer.addEventListener('error', reject, { signal: listening.signal });
    });
    try {
      change();
      await done;
    } finally {
      listening.abort();
    }
  }

  /** Keeps playback near the newest picture, unless the viewer pauses. */
  #follow() {
    const { buffered } = this.#buffer;
    if (!buffered.length || this.#isPaused) return;
    const [start, end] = [buffered.start(buffered.length - 1), buffered.end(buffered.length - 1)];
    const behind = end - this.#video.currentTime;
    if (this.#video.currentTime < start || behind > tooFar) this.#video.currentTime = Math.max(start, end - aim);
    this.#video.playbackRate = behind > aim + 0.5 ? catchUp : 1;
    // A browser may want a gesture before it plays sound.
    if (this.#video.paused) this.#video.play().catch((error) => this.#playMuted(error)).catch(() => {});
    if (!this.#video.paused) this.#say('playing');
    while (this.#dates.length > 1 && this.#dates[1].time <= this.#video.currentTime) this.#dates.shift();
    const [known] = this.#dates;
    if (!known) return;
    const taken = known.date + (this.#video.currentTime - known.time) * 1000;
    this.dispatchEvent(new CustomEvent('latency', { detail: (Date.now() - taken) / 1000 }));
  }

  #playMuted(error) {
    // A pause that the viewer makes meanwhile fails otherwise.
    if (error.name !== 'NotAllowedError') return null;
    this.#video.muted = true;
    return this.#video.play();
  }

  #release() {
    this.#buffer = null;
    this.#source = null;
    this.#video.removeAttribute('src');
    this.#video.load();
  }
}
