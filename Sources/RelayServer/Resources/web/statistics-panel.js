import { diagnose } from './diagnosis.js';
import { byID, make } from './dom.js';
import { bitRate, frameRate, milliseconds, percent, size } from './format.js';
import { Plot } from './plot.js';
import { capacity } from './statistics.js';

/** What the relay calls the state of the way to here, for people. */
const states = { normal: 'free', overusing: 'filling up', underusing: 'emptying' };

/** “Why is my picture soft?”: a verdict in words, the figures of now, and two minutes of plots. */
export class StatisticsPanel {
  #diagnosis = byID('diagnosis');
  #figures = byID('figures');
  #plots;
  #samples = [];
  #headline = '';

  /** @param {AbortSignal} signal Ends the panel. */
  constructor(signal) {
    this.#plots = [
      new Plot({
        title: 'Bitrate', capacity, format: bitRate, least: 400_000,
        series: [
          { key: 'targetBitRate', label: 'relay’s target', className: 'second', isStep: true },
          { key: 'receivedBitRate', label: 'received', className: 'first' },
        ],
      }),
      new Plot({
        title: 'Picture height', capacity, least: 360,
        format: (value) => (value === null ? '–' : `${Math.round(value)} lines`),
        series: [{ key: 'height', label: 'rung', className: 'first', isStep: true }],
      }),
      new Plot({
        title: 'Frame rate', capacity, format: frameRate, least: 10, marks: (sample) => sample.freezes > 0,
        series: [
          { key: 'sentFrameRate', label: 'sent', className: 'second', isStep: true },
          { key: 'frameRate', label: 'shown', className: 'first' },
        ],
      }),
      new Plot({
        title: 'Round-trip time', capacity, format: milliseconds, least: 40,
        series: [{ key: 'roundTripTime', label: 'now', className: 'first' }],
      }),
      new Plot({
        title: 'Loss', capacity, format: percent, least: 0.04,
        series: [{ key: 'loss', label: 'now', className: 'alert' }],
      }),
    ];
    const container = byID('plots');
    container.replaceChildren(...this.#plots.map((plot) => plot.element));
    container.addEventListener('pointermove', (event) => this.#point(event), { signal });
    container.addEventListener('pointerleave', () => this.#plots.forEach((plot) => plot.point(null)), { signal });
  }

  /** @param {object[]} samples As `Statistics` takes them. */
  draw(samples) {
    this.#samples = samples;
    this.#showDiagnosis(diagnose(samples));
    this.#showFigures(samples);
    for (const plot of this.#plots) plot.draw(samples);
  }

  #showDiagnosis({ quality, headline, text }) {
    // Screen readers hear a new verdict, not each new number in it.
    const isNew = headline !== this.#headline;
    this.#headline = headline;
    this.#diagnosis.dataset.quality = quality;
    if (isNew || !this.#diagnosis.lastElementChild) {
      this.#diagnosis.replaceChildren(make('strong', {}, headline), make('p', { 'aria-live': 'off' }, text));
    } else {
      this.#diagnosis.lastElementChild.textContent = text;
    }
  }

  #showFigures(samples) {
    const latest = samples.at(-1) ?? {};
    const freezes = samples.reduce((sum, sample) => sum + sample.freezes, 0);
    const frozen = samples.reduce((sum, sample) => sum + sample.frozenTime, 0);
    const state = latest.relay?.controllerState;
    const rows = [
      ['Picture', size(latest.width, latest.height)],
      ['Freezes', freezes === 0 ? 'none in 2 min' : `${freezes}, ${frozen.toFixed(1)} s in 2 min`],
      ['Buffered here', milliseconds(latest.playoutDelay)],
      ['Queues on the way', state ? states[state] ?? state : '–'],
    ];
    this.#figures.replaceChildren(
      ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
  }

  #point(event) {
    const area = event.target.closest?.('.plot-area');
    if (!area) return;
    const box = area.getBoundingClientRect();
    const position = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    const index = this.#samples.length - 1 - Math.round((1 - position) * (capacity - 1));
    for (const plot of this.#plots) plot.point(this.#samples[index] ?? null, position);
  }
}
