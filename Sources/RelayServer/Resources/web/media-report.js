/** Tells the others whether microphone and camera are on. */
export class MediaReport {
  #media;
  #membership;
  #trouble;
  #told = '';
  #telling = Promise.resolve();

  /**
   * @param {import('./local-media.js').LocalMedia} media
   * @param {() => import('./signalling.js').Membership | null} membership The session that is told; null: none.
   * @param {(error: Error) => void} trouble Takes the error of a report that did not come through.
   */
  constructor(media, membership, trouble) {
    this.#media = media;
    this.#membership = membership;
    this.#trouble = trouble;
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
        if (membership === this.#membership()) this.#told = text;
      } catch (error) {
        this.#trouble(error);
      }
    });
  }

  /** Tells another session, which knows nothing yet. */
  tellAnew() {
    this.#told = '';
    // A request to the former session may still be under way. The new session does not wait for it.
    this.#telling = Promise.resolve();
    this.tell();
  }
}
