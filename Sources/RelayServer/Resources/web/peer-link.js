import { pause } from './pauses.js';
import { scaleDownFactor } from './tile-size.js';

/** Bounds of what one sends, in bit/s. The browser's own congestion control stays below them. */
const mostForCamera = 2_500_000;
const mostForScreen = 4_000_000;
/** How long a new connection, or a restarted one, may take until media flows. */
const connectingTime = 8_000;

/**
 * One `RTCPeerConnection` with the relay: what is sent, what comes back, and the exchange of descriptions. It offers,
 * and never says its own candidates: the relay is ICE-lite, it answers checks and makes none.
 *
 * Events: `state`, whenever `isConnected` or `isBroken` may have changed; `picture`, when `received` has a new track.
 */
export class PeerLink extends EventTarget {
  /** What comes from the relay: one stream of video and one of audio. */
  received = new MediaStream();
  #connection;
  #audio;
  #video;
  #screen = null;
  #tile = null;
  #exchanging = Promise.resolve();
  #fail;
  /** Rejects when the connection is closed: from then on, browsers leave an exchange of descriptions pending. */
  #closing = new Promise((resolve, reject) => { this.#fail = reject; });

  /** @param {{watchOnly: boolean, iceServers: RTCIceServer[]}} options */
  constructor({ watchOnly, iceServers }) {
    super();
    if (!globalThis.RTCPeerConnection) {
      throw new Error('This browser has no WebRTC, which calls need, or its settings, an extension or Lockdown Mode '
        + 'turn it off. Allow it for this page, or use another browser.');
    }
    this.#connection = new RTCPeerConnection({ iceServers, bundlePolicy: 'max-bundle' });
    const direction = watchOnly ? 'recvonly' : 'sendrecv';
    this.#audio = this.#connection.addTransceiver('audio', { direction });
    const sendEncodings = watchOnly ? undefined : [{ maxBitrate: mostForCamera }];
    this.#video = this.#connection.addTransceiver('video', { direction, sendEncodings });
    this.#connection.addEventListener('track', ({ track }) => {
      this.received.addTrack(track);
      this.dispatchEvent(new Event('picture'));
    });
    const changed = () => this.dispatchEvent(new Event('state'));
    this.#connection.addEventListener('connectionstatechange', changed);
    this.#audio.receiver.transport?.addEventListener('statechange', changed);
    this.#transportChanged = changed;
    this.#closing.catch(() => {});
  }

  #transportChanged;

  get isConnected() { return this.#connection.connectionState === 'connected' && !this.isBroken; }

  /** Media may come back by itself, within seconds. */
  get isInterrupted() { return this.#connection.connectionState === 'disconnected'; }

  /** Nothing will come back without a restart, or a new connection. */
  get isBroken() {
    return this.#connection.connectionState === 'failed' || this.needsReplacement;
  }

  /** The encryption's session is over: the relay closed it, or another relay answers. */
  get needsReplacement() {
    const transport = this.#audio.receiver.transport;
    return this.#connection.connectionState === 'closed' || ['failed', 'closed'].includes(transport?.state);
  }

  /** Waits until media can flow; throws when it does not in time, or never will. */
  async connects() {
    if (this.isConnected) return;
    const changes = new AbortController();
    const connected = new Promise((resolve, reject) => {
      this.addEventListener('state', () => {
        if (this.isConnected) resolve();
        else if (this.needsReplacement) reject(new Error('The connection is lost.'));
      }, { signal: changes.signal });
    });
    const late = pause(connectingTime).then(() => {
      throw new Error('Media does not get through; a firewall may stand in its way.');
    });
    try {
      await Promise.race([connected, this.#closing, late]);
    } finally {
      changes.abort();
    }
  }

  /** Waits until video comes, or audio has come for so long without it. */
  begins(milliseconds) {
    const audio = begins(this.#audio.receiver.track).then(() => pause(milliseconds));
    return Promise.race([begins(this.#video.receiver.track), audio]);
  }

  getStats() { return this.#connection.getStats(); }

  /** Whether something comes within a second: the relay sends audio all the time. */
  async receives() {
    const packets = async () => [...(await this.getStats()).values()]
      .reduce((sum, { type, packetsReceived }) => sum + (type === 'inbound-rtp' ? packetsReceived : 0), 0);
    const before = await packets();
    await pause(1_000);
    return await packets() > before;
  }

  /** An offer for a new session. */
  async offer() {
    await Promise.race([this.#connection.setLocalDescription(), this.#closing]);
    return this.#connection.localDescription.sdp;
  }

  /** Takes the answer, and where media can go through; the latter is used from the next restart on. */
  async accept(answer, iceServers = []) {
    if (iceServers.length > 0) {
      this.#connection.setConfiguration({ ...this.#connection.getConfiguration(), iceServers });
    }
    await Promise.race([this.#connection.setRemoteDescription({ type: 'answer', sdp: answer }), this.#closing]);
    this.#audio.receiver.transport?.addEventListener('statechange', this.#transportChanged);
    await this.#scale();
  }

  /**
   * Offers again over an existing session.
   *
   * @param {(offer: string) => Promise<string>} exchange Brings the offer to the relay and its answer back.
   */
  renegotiate(exchange, { restart = false } = {}) {
    const run = async () => {
      if (restart) this.#connection.restartIce();
      try {
        await this.accept(await exchange(await this.offer()));
      } catch (error) {
        if (this.#connection.signalingState === 'have-local-offer') {
          await this.#connection.setLocalDescription({ type: 'rollback' });
        }
        throw error;
      }
    };
    this.#exchanging = this.#exchanging.then(run, run);
    return this.#exchanging;
  }

  /** Sends these tracks from now on; null sends nothing. */
  async send({ camera, microphone }) {
    await Promise.all([this.#audio.sender.replaceTrack(microphone), this.#video.sender.replaceTrack(camera)]);
    await this.#scale();
  }

  /** The screen that is sent; null while none is. */
  get screen() { return this.#screen?.sender.track ?? null; }

  /** Adds the screen to what is sent, or takes it away; the offer that says so has to follow. */
  async setScreen(track) {
    if (!this.#screen && !track) return;
    if (this.#screen) {
      await this.#screen.sender.replaceTrack(track);
      this.#screen.direction = track ? 'sendonly' : 'inactive';
    } else {
      this.#screen = this.#connection.addTransceiver(track, {
        direction: 'sendonly', sendEncodings: [{ maxBitrate: mostForScreen }],
      });
    }
  }

  /**
   * Sends the camera's picture as large as its tile, and no larger, at the rate with which it looks well there.
   *
   * @param {{width: number, height: number, bitRate?: number} | null} tile
   */
  async fit(tile) {
    this.#tile = tile;
    await this.#scale();
  }

  async #scale() {
    const { sender } = this.#video;
    const parameters = sender.getParameters();
    const encoding = parameters.encodings?.[0];
    if (!sender.track || !encoding) return;
    const factor = scaleDownFactor(sender.track.getSettings(), this.#tile, encoding.scaleResolutionDownBy);
    const most = Math.min(mostForCamera, this.#tile?.bitRate ?? mostForCamera);
    const isUnseen = this.#tile?.width === 0;
    // At a low rate the size is kept while nobody looks, and motion otherwise. A change between the two also makes a
    // browser forget that it ever went to a smaller size.
    const preference = isUnseen ? 'maintain-resolution' : 'maintain-framerate';
    if (encoding.scaleResolutionDownBy === factor && encoding.maxBitrate === most
      && (parameters.degradationPreference ?? 'maintain-framerate') === preference) return;
    encoding.scaleResolutionDownBy = factor;
    encoding.maxBitrate = most;
    parameters.degradationPreference = preference;
    // Whoever loses a race with another change sees the new state with the next one.
    await sender.setParameters(parameters).catch(() => {});
  }

  close() {
    this.#connection.close();
    this.#fail(new Error('The connection is closed.'));
  }
}

/** Waits until something comes for a track. */
function begins(track) {
  if (!track.muted) return Promise.resolve();
  return new Promise((resolve) => { track.addEventListener('unmute', resolve, { once: true }); });
}
