/** The level of silence and of as loud as it gets, in decibels below full scale. */
const quietest = -60;

/** Shows how loud a microphone is in an element with the role `meter`. */
export class LevelMeter {
  #element;
  #context = null;
  #source = null;
  #analyser = null;
  #track = null;
  #timer = null;
  #samples = new Float32Array(1024);

  /** @param {HTMLElement} element Gets the property `--level`, 0 to 1, and `aria-valuenow`. */
  constructor(element) {
    this.#element = element;
  }

  /** @param {MediaStreamTrack | null} track */
  follow(track) {
    if (track === this.#track) return;
    this.#track = track;
    this.#source?.disconnect();
    this.#source = null;
    clearInterval(this.#timer);
    this.#show(0);
    if (!track) return;
    this.#context ??= new AudioContext();
    this.#analyser ??= new AnalyserNode(this.#context, { fftSize: this.#samples.length });
    this.#source = this.#context.createMediaStreamSource(new MediaStream([track]));
    this.#source.connect(this.#analyser);
    this.#timer = setInterval(() => this.#measure(), 80);
  }

  /** Lets go of the audio device. */
  close() {
    this.follow(null);
    this.#context?.close();
    this.#context = null;
    this.#analyser = null;
  }

  #measure() {
    // Browsers let a page's audio begin only after the person did something on it.
    if (this.#context.state === 'suspended') this.#context.resume().catch(() => {});
    this.#analyser.getFloatTimeDomainData(this.#samples);
    const power = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length;
    const level = power > 0 ? 1 - Math.max(quietest, Math.min(0, 10 * Math.log10(power))) / quietest : 0;
    this.#show(level);
  }

  #show(level) {
    this.#element.style.setProperty('--level', level.toFixed(3));
    this.#element.setAttribute('aria-valuenow', Math.round(level * 100));
  }
}
