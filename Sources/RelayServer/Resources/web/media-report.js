import { pause } from './pauses.js';

/** How long the room's event about what is on may come after the relay's answer. */
const eventTime = 2_000;

/** Tells the others whether microphone and camera are on. */
export class MediaReport {
  #media;
  #membership;
  #trouble;
  #room;
  #withheld;
  #told = '';
  #telling = Promise.resolve();

  /**
   * @param {import('./local-media.js').LocalMedia} media
   * @param {() => import('./signalling.js').Membership | null} membership The session that is told; null: none.
   * @param {(error: Error) => void} trouble Takes the error of a report that did not come through.
   * @param {() => import('./room-state.js').RoomState | null} room What the others are told.
   * @param {(kinds: string[]) => void} withheld Takes what is on, and not for the others.
   */
  constructor(media, membership, trouble, room, withheld) {
    this.#media = media;
    this.#membership = membership;
    this.#trouble = trouble;
    this.#room = room;
    this.#withheld = withheld;
  }

  /** Tells it if it has changed; in turn, so that the newest is last. */
  tell() {
    this.#telling = this.#telling.then(async () => {
      const membership = this.#membership();
      const state = { microphone: this.#media.microphoneIsOn, camera: this.#media.cameraIsOn };
      const text = JSON.stringify(state);
      if (!membership || text === this.#told) return;
      // An answer that does not come leaves open what the relay knows.
      this.#told = '';
      try {
        await membership.setMedia(state);
        if (membership !== this.#membership()) return;
        this.#told = text;
        this.#compare(state, text);
      } catch (error) {
        this.#trouble(error);
      }
    });
  }

  /** A moderator, or the role, may forbid what is on here. */
  async #compare(state, text) {
    const former = this.#room()?.statistics;
    await pause(eventTime);
    const room = this.#room();
    // Events that do not come at present say nothing.
    if (text !== this.#told || !room?.own || room.statistics === former) return;
    const kinds = Object.keys(state).filter((kind) => state[kind] && !room.own[kind]);
    if (kinds.length > 0) this.#withheld(kinds);
  }

  /** Tells another session, which knows nothing yet. */
  tellAnew() {
    this.#told = '';
    // A request to the former session may still be under way. The new session does not wait for it.
    this.#telling = Promise.resolve();
    this.tell();
  }
}
