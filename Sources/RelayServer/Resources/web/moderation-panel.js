import { byID, make } from './dom.js';
import { capitalized } from './format.js';

/** Who waits in the lobby, and who may enter: for moderators. */
export class ModerationPanel {
  #call;
  #say;
  #asked = 0;
  /** The ids of the people in the list. */
  #shown = null;
  #waiting = 0;

  /**
   * @param {import('./call.js').Call} call
   * @param {(text: string, seconds?: number) => void} say What to say where something is refused, or somebody waits.
   * @param {AbortSignal} signal Ends the panel.
   */
  constructor(call, say, signal) {
    this.#call = call;
    this.#say = say;
    const on = (id, name, handler) => byID(id).addEventListener(name, handler, { signal });
    on('room-locked', 'change', ({ target }) => this.#do('setEntry', { locked: target.checked }));
    on('room-lobby', 'change', ({ target }) => this.#do('setEntry', { lobby: target.checked }));
    on('pin-form', 'submit', (event) => {
      event.preventDefault();
      this.#do('setEntry', { pin: byID('new-pin').value });
      byID('new-pin').value = '';
    });
    on('lower-hands', 'click', () => this.#do('lowerHands'));
    on('end-for-all', 'click', () => { if (window.confirm('End the call for everyone?')) this.#do('endForAll'); });
  }

  #do(method, ...values) {
    this.#call.moderate(method, ...values).catch((error) => {
      this.#say(error.message);
      this.draw();
    });
  }

  /** Shows how the room is, to a moderator. */
  draw() {
    const { room } = this.#call;
    const isModerator = room?.isModerator ?? false;
    const waiting = isModerator ? room.waiting : 0;
    const hint = byID('people-panel').hidden ? ' Open People to let them in.' : '';
    if (waiting > this.#waiting) this.#say(`Somebody waits in the lobby.${hint}`, 12);
    this.#waiting = waiting;
    byID('moderation').hidden = !isModerator;
    if (!isModerator) {
      byID('lobby').hidden = true;
      return;
    }
    byID('room-locked').checked = room.entry.locked;
    byID('room-lobby').checked = room.entry.lobby;
    byID('new-pin').placeholder = room.entry.pin ? 'set; empty to remove' : 'none';
    this.#drawLobby(room.waiting);
  }

  async #drawLobby(count) {
    this.#asked += 1;
    const asked = this.#asked;
    const people = count > 0 ? await this.#call.moderate('waiting').catch(() => []) ?? [] : [];
    // A newer answer may have come before.
    if (asked !== this.#asked) return;
    byID('lobby').hidden = people.length === 0;
    const ids = people.map(({ id }) => id).join();
    // It is drawn again whenever the moderator speaks: a button that is being clicked, or has the focus, is to stay.
    if (ids === this.#shown) return;
    this.#shown = ids;
    byID('lobby-people').replaceChildren(...people.map(({ id, name }) => {
      const answer = (isAdmitted) => () => this.#do('answer', id, isAdmitted);
      return make(
        'li', {}, make('span', {}, name),
        make(
          'button', { type: 'button', className: 'small primary', 'data-admit': id, onclick: answer(true) }, 'Admit'),
        make('button', { type: 'button', className: 'small', onclick: answer(false) }, 'Refuse'));
    }));
  }
}

/** What a moderator did, in words for one participant; null where there is nothing to say. */
export function moderationWords({ action, participant, by }, room) {
  const isOwn = participant !== undefined && room.isSelf({ id: participant });
  const who = capitalized(by.name);
  if (action === 'handsLowered') return `${who} lowered all hands.`;
  const whom = isOwn ? 'you' : room.participants.get(participant)?.name;
  if (!whom) return null;
  return {
    muted: `${who} muted ${whom}.`, askedToUnmute: `${who} asks ${whom} to unmute.`,
    cameraOff: `${who} turned off ${isOwn ? 'your' : `${whom}’s`} camera.`, removed: `${who} removed ${whom}.`,
    microphoneAllowed: `${who} lets ${whom} be heard again.`, cameraAllowed: `${who} lets ${whom} be seen again.`,
    roleChanged: `${who} changed what ${whom} may do.`,
  }[action] ?? null;
}

/** Why the others do not get what is on, in words. */
export function withheldWords(kind, { muted, cameraOff }) {
  if (kind === 'microphone' && muted) return 'A moderator muted you. You can unmute when you are asked to.';
  if (kind === 'camera' && cameraOff) return 'A moderator turned off your camera, and has to allow it first.';
  return `You may not be ${kind === 'microphone' ? 'heard' : 'seen'} in this room.`;
}
