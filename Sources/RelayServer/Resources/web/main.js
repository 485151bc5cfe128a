import { Call } from './call.js';
import { CallView } from './call-view.js';
import { JoinView, roomProblem } from './join-view.js';
import { LocalMedia } from './local-media.js';
import { currentCall, moderatedRoom, preferences } from './preferences.js';
import { takeToken } from './access.js';
import { Refusal, leaveLobby, noOthers } from './signalling.js';

takeToken();
const known = preferences.read();
const media = new LocalMedia({ cameraID: known.cameraID, microphoneID: known.microphoneID });
const joinView = new JoinView(media, enter);
let call = null;
let isGoingAway = false;

/** The room that the address names; empty at the page's root. */
function roomOfAddress() {
  const name = location.pathname.match(/^\/rooms\/([^/]+)\/?$/)?.[1];
  try {
    return name ? decodeURIComponent(name) : '';
  } catch {
    return '';
  }
}

/** The relay tells programs how to send a PIN or a token. */
function wordsOfFailure(error, pin) {
  if (!(error instanceof Refusal) || error.status !== 401 || (error.wantsPIN && pin)) return error.message;
  return error.wantsPIN ? 'This room has a PIN.'
    : 'You need an invitation. Open the whole link that you were sent; if it is too old, ask for a new one.';
}

/** A reload goes back to this call, or to its room's lobby. */
function keepForReload({ room, name, watchOnly }) {
  currentCall.update({ room, name, watchOnly, ...media.wanted });
  history.replaceState(null, '', `/rooms/${encodeURIComponent(room)}`);
}

/** Joins a room; asks again while the relay has no seat, until the person stops that. Null when it does not work. */
async function joined({ room, name, watchOnly, pin, resume: session, moderatorKey = moderatedRoom.key(room) }) {
  for (;;) {
    const others = { ...noOthers, moderatorKey };
    const entered = new Call({ room, name, watchOnly, pin, resume: session, others }, media);
    call = entered;
    entered.addEventListener('waiting', () => {
      keepForReload({ room, name, watchOnly });
      joinView.waitInLobby(() => {
        call = null;
        currentCall.clear();
        entered.leave();
        leaveLobby();
      });
    });
    try {
      await entered.join();
      return entered;
    } catch (error) {
      // A person who stopped waiting may be in another call by now. A reload goes back to the call that it interrupts.
      if (call !== entered || isGoingAway) return null;
      call = null;
      entered.leave();
      const wantsPIN = error instanceof Refusal && error.wantsPIN;
      joinView.fail(wordsOfFailure(error, pin), wantsPIN);
      if (error instanceof Refusal && error.isTemporary && await joinView.countDown(error.retryAfter ?? 5)) continue;
      currentCall.clear();
      return null;
    }
  }
}

/** Joins a room and shows it; back at the join page when that does not work, or the call is over. */
async function enter({ room, name, watchOnly, pin, resume: session, moderatorKey }) {
  if (watchOnly) media.close();
  const entered = await joined({ room, name, watchOnly, pin, resume: session, moderatorKey });
  if (!entered) return;
  joinView.hide();
  const keepProofs = () => {
    currentCall.update(entered.proofs);
    moderatedRoom.keep(room, entered.proofs.moderatorKey);
  };
  keepForReload({ room, name, watchOnly });
  keepProofs();
  entered.addEventListener('room', keepProofs);
  const view = new CallView(entered, media, room);
  entered.addEventListener('state', () => {
    // What a reload goes back to has to outlast the leaving.
    if (!entered.isOver || isGoingAway) return;
    call = null;
    view.close();
    media.close();
    currentCall.clear();
    leaveLobby();
    const notice = entered.state === 'left' ? `You have left ${room}.` : `The call is over. ${entered.reason}`;
    joinView.show({ room, notice });
  });
}

/** Goes back into the call, or the lobby, that a reload interrupted. */
async function resume({ room, name, watchOnly, session, moderatorKey, camera, microphone }) {
  // Browsers may ask for the devices again, and the relay may not answer: the page is not to be empty meanwhile.
  joinView.show({ room, notice: `You are coming back to ${room}…` });
  joinView.busy = true;
  if (!watchOnly) await media.open({ camera, microphone });
  await enter({ room, name, watchOnly, resume: session, moderatorKey });
}

function isReload() {
  return performance.getEntriesByType('navigation')[0]?.type === 'reload';
}

window.addEventListener('pagehide', () => {
  isGoingAway = true;
  call?.leave();
});
// A page that comes back from the browser's cache has left its call.
window.addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

const former = currentCall.read();
if (isReload() && former.room && former.room === roomOfAddress()) {
  resume(former);
} else {
  // A reload of the join page joins nothing.
  currentCall.clear();
  const room = roomOfAddress();
  const isMistyped = location.pathname !== '/' && roomProblem(room) !== '';
  joinView.show(isMistyped ? { notice: 'This link leads to no room. Check it, or name the room here.' } : { room });
}
