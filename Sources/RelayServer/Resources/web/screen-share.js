import { pause, pauseAfter } from './pauses.js';

/** The screen that is shown to the others beside the camera. */
export class ScreenShare {
  /** @type {MediaStreamTrack | null} */ track = null;
  #renew;
  #trouble;

  /**
   * @param {() => Promise<void>} renew Sends the track, or none, and tells the relay; nothing while that is told later.
   * @param {(error: Error) => void} trouble Takes the error of what could not be told.
   */
  constructor(renew, trouble) {
    this.#renew = renew;
    this.#trouble = trouble;
  }

  get isOn() { return this.track !== null; }

  /** Shows a screen until it is stopped, here or by the browser. */
  async begin(track) {
    track.contentHint = 'detail';
    this.track?.stop();
    this.track = track;
    track.addEventListener('ended', () => { if (this.track === track) this.end(); });
    try {
      await this.#renew();
    } catch (error) {
      // The relay may know it all the same: perhaps only the answer is lost.
      if (this.track === track) this.end();
      throw error;
    }
  }

  async end() {
    this.track?.stop();
    this.track = null;
    await this.tell();
  }

  /** Tells the relay what is shown, until it knows or that has changed: it goes on showing what it was told before. */
  async tell() {
    const { track } = this;
    for (let attempt = 0; this.track === track; attempt += 1) {
      try {
        await this.#renew();
        return;
      } catch (error) {
        if (!error.isTemporary) {
          this.#trouble(error);
          return;
        }
        await pause(Math.max(pauseAfter(attempt), (error.retryAfter ?? 0) * 1000));
      }
    }
  }
}
