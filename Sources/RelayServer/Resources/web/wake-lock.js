/** Keeps the screen on during a call, where the browser can: phones turn theirs off otherwise. */
export class WakeLock {
  #lock = null;
  #isWanted = false;
  #visible = () => { if (document.visibilityState === 'visible') this.#acquire(); };

  hold() {
    if (this.#isWanted) return;
    this.#isWanted = true;
    // The browser takes the lock away when the page is hidden.
    document.addEventListener('visibilitychange', this.#visible);
    this.#acquire();
  }

  release() {
    this.#isWanted = false;
    document.removeEventListener('visibilitychange', this.#visible);
    this.#lock?.release().catch(() => {});
    this.#lock = null;
  }

  async #acquire() {
    if (!this.#isWanted || !navigator.wakeLock || document.visibilityState !== 'visible') return;
    const lock = await navigator.wakeLock.request('screen').catch(() => null);
    if (this.#isWanted) this.#lock = lock;
    else lock?.release().catch(() => {});
  }
}
