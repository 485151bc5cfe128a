import { takeToken } from './access.js';
import { byID } from './dom.js';
import { StreamPlayer } from './stream-player.js';

const path = location.pathname.replace(/\/$/, '');
const room = decodeURIComponent(path.split('/').at(-2) ?? '');
const state = byID('stream-state');
const latency = byID('stream-latency');
const video = byID('stream-video');
const unmute = byID('stream-unmute');

takeToken();
byID('stream-room').textContent = room;
document.title = `${room} · Live`;
byID('stream-playlist').href = `${path}/index.m3u8`;

const words = {
  waiting: 'Waiting for the stream to begin…',
  refused: 'The relay does not let you watch this stream. Ask for another link.',
  playing: 'Live',
  paused: 'Paused',
  ended: 'The stream has ended.',
};

const player = new StreamPlayer(video, `${path}/`);
player.addEventListener('state', ({ detail }) => {
  state.dataset.state = detail.state;
  const text = detail.state === 'unplayable'
    ? `This browser cannot play the stream (${detail.detail ?? 'no codecs'}). `
      + 'Open the playlist in a player such as VLC.'
    : words[detail.state];
  // Screen readers read it out again where the same is written again.
  if (state.textContent !== text) state.textContent = text;
  if (detail.state !== 'playing') latency.textContent = '';
  unmute.hidden = !(detail.state === 'playing' && video.muted);
});
player.addEventListener('latency', ({ detail }) => {
  state.dataset.latency = detail.toFixed(3);
  // Beside the state, as screen readers would read out each new number.
  latency.textContent = `${Math.max(0, detail).toFixed(1)} s behind`;
});
unmute.addEventListener('click', () => {
  video.muted = false;
  unmute.hidden = true;
});
addEventListener('pagehide', () => player.stop());
// A page that comes back from the browser's cache plays no more.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
player.play();
