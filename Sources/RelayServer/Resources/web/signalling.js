import { iceServers } from './link-header.js';

/** The relay said no; the message is its own, from the problem document (RFC 9457). */
export class Refusal extends Error {
  /** @param {number | null} retryAfter In how many seconds to try again, where the relay says so. */
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** The same request may succeed a little later. */
  get isTemporary() {
    return this.status === 503 || this.status === 502 || this.status === 504 || this.status === 429;
  }
}

/** No answer came: the network or the relay is away. */
export class Unreachable extends Error {}

const sdp = 'application/sdp';
const json = 'application/json';
const png = 'image/png';
const patience = 10_000;

async function request(method, url, { body, type, keepalive = false } = {}) {
  let response;
  try {
    response = await fetch(url, {
      method,
      body,
      keepalive,
      headers: type ? { 'Content-Type': type } : {},
      cache: 'no-store',
      signal: keepalive ? undefined : AbortSignal.timeout(patience),
    });
  } catch (error) {
    throw new Unreachable('The relay does not answer.', { cause: error });
  }
  if (!response.ok) throw new Refusal(response.status, await problem(response), retryAfter(response));
  return response;
}

const longestWait = 300;

/** What `Retry-After` (RFC 9110, section 10.2.3) says, in seconds: it holds those or a date. */
function retryAfter(response) {
  const field = response.headers.get('Retry-After');
  if (field === null) return null;
  const seconds = /^\d+$/.test(field) ? Number(field) : (Date.parse(field) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), longestWait) : null;
}

async function problem(response) {
  try {
    const { detail, title } = await response.json();
    const text = detail ?? title ?? response.statusText;
    return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
  } catch {
    return response.statusText || `HTTP ${response.status}`;
  }
}

/** Where media goes through when it cannot go straight, if the relay names such servers. */
export async function knownICEServers(room) {
  try {
    const response = await request('OPTIONS', joinPath(room, false));
    return iceServers(response.headers.get('Link'));
  } catch {
    return [];
  }
}

function joinPath(room, watchOnly) {
  const name = encodeURIComponent(room);
  return watchOnly ? `/whep/${name}` : `/rooms/${name}/participants`;
}

/**
 * Joins a room.
 *
 * @param {{room: string, name: string, watchOnly: boolean, offer: string, resume: ?string}} options
 *   `resume`: the session that this client had until now. It comes back into its place, even when the relay is full.
 * @returns {Promise<{membership: Membership, answer: string}>}
 */
export async function join({ room, name, watchOnly, offer, resume }) {
  const query = Object.entries({ name, resume }).filter(([, value]) => value)
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  const response = await request('POST', `${joinPath(room, watchOnly)}?${query}`, { body: offer, type: sdp });
  const location = response.headers.get('Location');
  if (!location) throw new Refusal(response.status, 'The relay did not say where the call is.');
  const membership = new Membership(room, new URL(location, document.baseURI));
  return { membership, answer: await response.text(), servers: iceServers(response.headers.get('Link')) };
}

/** A participant's place in a room, as the relay keeps it. */
export class Membership {
  /** What the session is renewed and ended by. */
  #location;
  /** What the participant is called in the room, whichever way they joined. */
  #path;

  constructor(room, location) {
    this.room = room;
    this.#location = location.pathname;
    // The id, which all may see, and behind the point the key, by which only this page may change the session.
    const session = location.pathname.split('/').pop();
    this.id = session.split('.')[0];
    this.session = session;
    this.#path = `/rooms/${encodeURIComponent(room)}/participants/${session}`;
  }

  /** Renews the session by another offer; the answer comes back (RFC 9725, section 4.3.3, with whole descriptions). */
  async renegotiate(offer) {
    const response = await request('PATCH', this.#location, { body: offer, type: sdp });
    return response.text();
  }

  /** Whether the relay still knows the participant; throws when the relay cannot be asked. */
  async exists() {
    try {
      await request('GET', this.#path);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return false;
      throw error;
    }
  }

  /** Leaves; works while the page goes away, too. */
  async leave() {
    await request('DELETE', this.#location, { keepalive: true });
  }

  /** Tells the others whether microphone and camera are on. */
  async setMedia(state) {
    await request('PUT', `${this.#path}/media`, { body: JSON.stringify(state), type: json });
  }

  /** Chooses what this participant sees; null: what everyone sees. */
  async setOwnLayout(layout) {
    if (layout) await request('PUT', `${this.#path}/layout`, { body: JSON.stringify(layout), type: json });
    else await request('DELETE', `${this.#path}/layout`);
  }

  /** Chooses what everyone sees who has not chosen otherwise. */
  async setRoomLayout(layout) {
    const path = `/rooms/${encodeURIComponent(this.room)}/layout`;
    await request('PUT', path, { body: JSON.stringify(layout), type: json });
  }

  /** Shows a picture (PNG) in place of the camera while that is off; null: none. */
  async setAvatar(picture) {
    if (picture) await request('PUT', `${this.#path}/avatar`, { body: picture, type: png });
    else await request('DELETE', `${this.#path}/avatar`);
  }

  /** Where the room's events come from, with this participant's statistics among them. */
  get eventsURL() {
    return `/rooms/${encodeURIComponent(this.room)}/events?participant=${encodeURIComponent(this.id)}`;
  }
}
