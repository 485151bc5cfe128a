/** The pauses between attempts to come back; the last one is repeated. */
export const pauses = [500, 1_000, 2_000, 4_000, 8_000];

/**
 * The pause after an attempt, of which the first has the number 0: a quarter more or less, so that all who lost a relay
 * at the same time do not come back at the same time.
 */
export const pauseAfter = (attempt) => pauses[Math.min(attempt, pauses.length - 1)] * (0.75 + Math.random() / 2);

/** Waits for a time. */
export const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** A pause that an event can end. */
export class WakeablePause {
  #wake = () => {};

  /** Ends the pause, if there is one. */
  wake() { this.#wake(); }

  /** Waits; true if it was woken before the time was over. */
  run(milliseconds) {
    const woken = new Promise((resolve) => { this.#wake = () => resolve(true); });
    return Promise.race([pause(milliseconds).then(() => false), woken]);
  }

  /**
   * Waits, and says each second how much is left.
   *
   * @param {AbortSignal} signal Ends this, at the latest after a second.
   * @param {(milliseconds: number) => void} say
   */
  async countDown(milliseconds, signal, say) {
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0 && !signal.aborted; left = end - performance.now()) {
      say(left);
      if (await this.run(Math.min(left, 1_000))) return;
    }
  }
}
