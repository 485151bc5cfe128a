import { byID } from './dom.js';
import { notice } from './notices.js';

/** Without a movement for so long, the controls make room for the picture. */
const idleAfter = 3_000;

/** Full screen, and the picture in a window of its own. */
export class ScreenModes {
  #video;
  #abort = new AbortController();
  #idleTimer = null;

  /** @param {HTMLVideoElement} video */
  constructor(video) {
    this.#video = video;
    const { signal } = this.#abort;
    const hasFullScreen = document.documentElement.requestFullscreen || video.webkitEnterFullscreen;
    byID('full-screen').hidden = !hasFullScreen;
    byID('picture-in-picture').hidden = !document.pictureInPictureEnabled;
    document.addEventListener('fullscreenchange', () => this.#draw(), { signal });
    video.addEventListener('enterpictureinpicture', () => this.#draw(), { signal });
    video.addEventListener('leavepictureinpicture', () => this.#draw(), { signal });
    for (const name of ['pointermove', 'keydown', 'focusin']) {
      document.addEventListener(name, () => this.#stir(), { signal });
    }
    this.#draw();
  }

  close() {
    this.#abort.abort();
    clearTimeout(this.#idleTimer);
    document.documentElement.classList.remove('idle');
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
  }

  async toggleFullScreen() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else if (document.documentElement.requestFullscreen) await document.documentElement.requestFullscreen();
      else this.#video.webkitEnterFullscreen();
    } catch {
      notice('The browser does not allow full screen here.');
    }
  }

  async togglePictureInPicture() {
    try {
      if (document.pictureInPictureElement) await document.exitPictureInPicture();
      else await this.#video.requestPictureInPicture();
    } catch {
      notice('The picture can pop out only after it has arrived.');
    }
  }

  #draw() {
    byID('full-screen').setAttribute('aria-pressed', document.fullscreenElement !== null);
    byID('picture-in-picture').setAttribute('aria-pressed', document.pictureInPictureElement !== null);
    this.#stir();
  }

  #stir() {
    const root = document.documentElement;
    root.classList.remove('idle');
    clearTimeout(this.#idleTimer);
    if (!document.fullscreenElement) return;
    this.#idleTimer = setTimeout(() => {
      // Whoever works by keyboard keeps the controls in sight.
      if (!document.activeElement?.matches?.('.toolbar :focus-visible')) root.classList.add('idle');
    }, idleAfter);
  }
}
