import { takeToken } from './access.js';
import { byID, make } from './dom.js';
import { proofHeaders } from './signalling.js';

/** How often the cluster is looked at. */
const interval = 2_000;
const patience = 5_000;

const state = byID('cluster-state');
const more = byID('cluster-more');
/** The relays that are being asked to drain, or to serve again. */
const asked = new Set();

takeToken();

const number = (value) => make('td', { className: 'number' }, value === undefined ? '–' : String(value));
const rate = (value) => number(`${(value / 1e6).toFixed(1)} Mbit/s`);

/** One row for each element; one that says so where there is none. */
function fill(table, rows, columns, nothing) {
  byID(table).replaceChildren(
    ...(rows.length > 0 ? rows : [make('tr', {}, make('td', { colspan: columns }, nothing))]));
}

function relayRow(relay, own) {
  const isDraining = relay.state === 'draining';
  const button = make('button', {
    type: 'button', className: 'small', disabled: asked.has(relay.id),
    // The relay itself may be reached at its administration address.
    onclick: () => setDraining(relay, !isDraining, relay.id === own ? '' : relay.url),
  }, isDraining ? 'Serve again' : 'Drain');
  return make('tr', {},
    make('td', {}, make('a', { href: `${relay.url}/cluster` }, relay.id), relay.id === own ? ' (this one)' : ''),
    make('td', {}, relay.region), make('td', { className: relay.state }, relay.state),
    number(relay.seatsLeft), number(relay.participants), number(relay.rooms), make('td', {}, relay.version),
    make('td', {}, button));
}

function show(cluster) {
  state.textContent = cluster.isReachable ? '' : 'The directory does not answer: this is what was last known.';
  fill('cluster-relays', cluster.relays.map((relay) => relayRow(relay, cluster.relay)), 8, 'No relay is known.');
  fill('cluster-rooms', cluster.rooms.map((room) => make('tr', {},
    make('td', {}, room.id), make('td', {}, room.owner ?? '–'), make('td', {}, room.relays.join(', ')))),
  3, 'There is no room.');
  more.hidden = cluster.roomCount <= cluster.rooms.length;
  more.textContent = `${cluster.rooms.length} of ${cluster.roomCount} rooms.`;
  fill('cluster-links', cluster.links.map((link) => make('tr', {},
    make('td', {}, link.room), make('td', {}, link.relay),
    make('td', {}, link.isConnected ? 'connected' : 'connecting'), number(link.participants),
    rate(link.sendBitRate), rate(link.receiveBitRate),
    number(link.roundTripTime === undefined ? undefined : `${(link.roundTripTime * 1000).toFixed(1)} ms`))),
  7, 'No room of this relay is at others.');
}

async function setDraining(relay, isDraining, url) {
  const question = `Drain ${relay.id}? Its ${relay.participants} participants move to other relays.`;
  if (isDraining && relay.participants > 0 && !window.confirm(question)) return;
  asked.add(relay.id);
  try {
    const response = await fetch(`${url}/admin/drain`, {
      method: isDraining ? 'POST' : 'DELETE', headers: proofHeaders(), signal: AbortSignal.timeout(patience),
    });
    if (!response.ok) state.textContent = (await response.json().catch(() => ({}))).detail ?? response.statusText;
  } catch {
    state.textContent = `${relay.id} does not answer at ${relay.url}.`;
  }
  asked.delete(relay.id);
}

async function refresh() {
  if (!document.hidden) {
    try {
      const response = await fetch('/cluster.json', {
        headers: proofHeaders(), cache: 'no-store', signal: AbortSignal.timeout(patience),
      });
      if (response.ok) show(await response.json());
      else state.textContent = (await response.json().catch(() => ({}))).detail ?? response.statusText;
    } catch {
      state.textContent = 'The relay does not answer.';
    }
  }
  setTimeout(refresh, interval);
}

refresh();
