import { capitalized } from './format.js';
import { alternates, iceServers } from './link-header.js';
import { lobbyPlace } from './preferences.js';

/** The relay said no; the message is its own, from the problem document (RFC 9457). */
export class Refusal extends Error {
  /** @param {number | null} retryAfter In how many seconds to try again, where the relay says so. */
  constructor(status, detail, retryAfter = null, challenge = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
    this.#challenge = challenge;
  }

  #challenge;

  /** The room has a PIN, which was missing or wrong. */
  get wantsPIN() { return this.status === 401 && this.#challenge === 'PIN'; }

  /** The same request may succeed a little later. */
  get isTemporary() {
    return this.status === 503 || this.status === 502 || this.status === 504 || this.status === 429;
  }
}

/** No answer came: the network or the relay is away. */
export class Unreachable extends Error {
  isTemporary = true;
}

const sdp = 'application/sdp';
const json = 'application/json';
const png = 'image/png';
const patience = 10_000;

/** What the relay is shown as a proof: the token of the room's link, or the key of one's session. */
let proof = '';

export function setProof(text) { proof = text ?? ''; }

export function proofHeaders(key = proof) { return key ? { Authorization: `Bearer ${key}` } : {}; }

/** @param {string} url A path is one at the relay that the page is from. */
async function request(method, url, { body, type, keepalive = false, key, headers } = {}) {
  let response;
  try {
    response = await fetch(new URL(url, document.baseURI), {
      method,
      body,
      keepalive,
      headers: { ...(type && { 'Content-Type': type }), ...proofHeaders(key), ...headers },
      cache: 'no-store',
      signal: keepalive ? undefined : AbortSignal.timeout(patience),
    });
  } catch (error) {
    throw new Unreachable('The relay does not answer.', { cause: error });
  }
  if (!response.ok) {
    throw new Refusal(
      response.status, await problem(response), retryAfter(response), response.headers.get('WWW-Authenticate'));
  }
  return response;
}

const longestWait = 300;

/** What `Retry-After` (RFC 9110, section 10.2.3) says, in seconds: it holds those or a date. */
export function retryAfter(response) {
  const field = response.headers.get('Retry-After');
  if (field === null) return null;
  const seconds = /^\d+$/.test(field) ? Number(field) : (Date.parse(field) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), longestWait) : null;
}

async function problem(response) {
  try {
    const { detail, title } = await response.json();
    const text = detail ?? title ?? response.statusText;
    return `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
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
 * Other relays of the cluster: where to join if the relay of the call ends, by which key, and by which key one
 * moderates the room there, if one began it.
 *
 * @typedef {{joins: string[], key: string | null, moderatorKey: string | null}} Others
 */
export const noOthers = { joins: [], key: null, moderatorKey: null };

/**
 * Joins a room; waits in its lobby where there is one.
 *
 * @param {{room: string, name: string, watchOnly: boolean, offer: string, resume: ?string, pin: ?string,
 *   signal: AbortSignal, onWaiting: () => void, others?: Others, elsewhere?: boolean}} options
 *   `resume`: the session that this client had until now. It comes back into its place, even when the relay is full.
 *   `signal` ends the waiting. `others`: what the last join said. `elsewhere`: at those other relays alone.
 * @returns {Promise<{membership: Membership, answer: string, servers: RTCIceServer[]}>}
 */
export async function join({
  room, name, watchOnly, offer, resume, pin, signal, onWaiting, others = noOthers, elsewhere = false,
}) {
  const own = joinPath(room, watchOnly);
  const places = elsewhere ? others.joins : [own, ...others.joins];
  let response;
  for (;;) {
    const ticket = lobbyPlace.ticket(room);
    const query = Object.entries({ name, resume, ticket, rejoin: others.key }).filter(([, value]) => value)
      .map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
    const headers = {
      ...(pin && { 'Room-PIN': bytesOfUTF8(pin) }),
      ...(others.moderatorKey && { 'Moderator-Key': others.moderatorKey }),
    };
    response = await post(places, query, { body: offer, type: sdp, headers });
    if (response.status !== 202) break;
    const place = new URL(response.headers.get('Location'), response.url).href;
    lobbyPlace.keep({ room, ticket: place.split('/').pop(), url: place });
    onWaiting?.();
    if (!await isAdmitted(place, signal)) lobbyPlace.clear();
  }
  lobbyPlace.clear();
  const location = response.headers.get('Location');
  if (!location) throw new Refusal(response.status, 'The relay did not say where the call is.');
  const links = response.headers.get('Link');
  const membership = new Membership(room, new URL(location, response.url), {
    joins: alternates(links), key: response.headers.get('Rejoin-Key'),
    moderatorKey: response.headers.get('Moderator-Key') ?? others.moderatorKey,
  });
  return { membership, answer: await response.text(), servers: iceServers(links) };
}

/** A text as a header field carries it: a character for each byte of its UTF-8. */
function bytesOfUTF8(text) { return String.fromCharCode(...new TextEncoder().encode(text)); }

/** Posts a join to the first of these places whose relay answers. That relay may send it on. */
async function post(places, query, options) {
  for (const [index, place] of places.entries()) {
    try {
      return await request('POST', `${place}?${query}`, options);
    } catch (error) {
      if (!(error instanceof Unreachable) || index === places.length - 1) throw error;
    }
  }
  throw new Unreachable('The relay does not answer.');
}

const lobbyInterval = 2_000;

/** Waits until a moderator lets one in; false: the relay does not know the place any more, and is to be asked anew. */
async function isAdmitted(location, signal) {
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, lobbyInterval); });
    const state = signal?.aborted ? null : await lobbyState(location);
    // The place may have been given up during the request.
    if (signal?.aborted) throw new Refusal(403, 'You no longer wait.');
    if (state === 'unknown') return false;
    if (state === 'admitted') return true;
    if (state === 'refused') throw new Refusal(403, 'A moderator did not let you in.');
  }
}

/** What became of the waiting: `waiting`, `admitted`, `refused` or `unknown`. */
async function lobbyState(location) {
  try {
    return (await (await request('GET', location)).json()).state;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return 'unknown';
    if (error.isTemporary) return 'waiting';
    throw error;
  }
}

/** Gives up this tab's place in a lobby, if it has one. A relay that does not hear of it forgets the place later. */
export async function leaveLobby() {
  const { url } = lobbyPlace.place;
  lobbyPlace.clear();
  if (url) await request('DELETE', url).catch(() => {});
}

/**
 * A participant's place in a room, as a relay keeps it. All its requests go to that relay, which in a cluster is not
 * always the one that the page is from.
 */
export class Membership {
  /** What the session is renewed and ended by. */
  #location;
  /** The room at the relay. */
  #room;
  /** What the participant is called in the room, whichever way they joined. */
  #participant;

  /** @param {Others} others */
  constructor(room, location, others) {
    this.others = others;
    this.#location = location.href;
    this.#room = new URL(`/rooms/${encodeURIComponent(room)}`, location).href;
    // The id, which all may see, and behind the point the key, by which only this page may change the session.
    const session = location.pathname.split('/').pop();
    this.id = session.split('.')[0];
    this.session = session;
    this.#participant = `${this.#room}/participants/${session}`;
  }

  /** The name of the session, its key included, and the key by which one moderates the room; null: one has none. */
  get proofs() { return { session: this.session, moderatorKey: this.others.moderatorKey }; }

  /** True if there are other relays to go to. */
  get hasOthers() { return this.others.joins.length > 0; }

  /** Renews the session by another offer; the answer comes back (RFC 9725, section 4.3.3, with whole descriptions). */
  async renegotiate(offer) {
    const response = await request('PATCH', this.#location, { body: offer, type: sdp });
    return response.text();
  }

  /** Whether the relay still knows the participant; throws when the relay cannot be asked. */
  async exists() {
    try {
      await request('GET', this.#participant);
      return true;
    } catch (error) {
      // A relay that was started again does not know the key either.
      if (error instanceof Refusal && [401, 403, 404].includes(error.status)) return false;
      throw error;
    }
  }

  /** Leaves; works while the page goes away, too. */
  async leave() {
    await request('DELETE', this.#location, { keepalive: true });
  }

  /** Tells the others whether microphone and camera are on. */
  async setMedia(state) {
    await request('PUT', `${this.#participant}/media`, { body: JSON.stringify(state), type: json });
  }

  /** Chooses what this participant sees; null: what everyone sees. */
  async setOwnLayout(layout) {
    if (layout) await request('PUT', `${this.#participant}/layout`, { body: JSON.stringify(layout), type: json });
    else await request('DELETE', `${this.#participant}/layout`);
  }

  /** Chooses what everyone sees who has not chosen otherwise. */
  async setRoomLayout(layout) {
    const body = JSON.stringify(layout);
    await request('PUT', `${this.#room}/layout`, { body, type: json, key: this.session });
  }

  // MARK: Moderating; the key of the session says who does it

  async #moderate(method, path, body) {
    const options = body ? { body: JSON.stringify(body), type: json } : {};
    return request(method, `${this.#room}${path}`, { ...options, key: this.session });
  }

  /** Changes what a member may do: `{microphone, camera, role}`. */
  moderate(id, change) { return this.#moderate('PUT', `/participants/${encodeURIComponent(id)}/moderation`, change); }

  /** Removes a member, and keeps them out. */
  remove(id) { return this.#moderate('DELETE', `/participants/${encodeURIComponent(id)}`); }

  /** Shows a member large to everyone; null: nobody. */
  spotlight(id) { return this.#moderate('PUT', '/spotlight', { participant: id }); }

  lowerHands() { return this.#moderate('DELETE', '/hands'); }

  /** Changes who may enter: `{locked, lobby, pin}`. */
  setEntry(change) { return this.#moderate('PUT', '/entry', change); }

  /** Those who wait in the lobby: `[{id, name}]`. */
  async waiting() { return (await (await this.#moderate('GET', '/lobby')).json()).waiting; }

  /** Lets somebody in who waits, or not. */
  answer(id, admit) { return this.#moderate('PUT', `/lobby/${encodeURIComponent(id)}`, { admit }); }

  endForAll() { return this.#moderate('DELETE', ''); }

  /** Shows a picture (PNG) in place of the camera while that is off; null: none. */
  async setAvatar(picture) {
    if (picture) await request('PUT', `${this.#participant}/avatar`, { body: picture, type: png });
    else await request('DELETE', `${this.#participant}/avatar`);
  }

  /** Where the room's events come from, with this participant's statistics among them. */
  get eventsURL() {
    return `${this.#room}/events?participant=${encodeURIComponent(this.id)}`;
  }
}
