import { make, makeSVG } from './dom.js';

/** The drawing's own units; the picture scales to its place. */
const width = 320;
const height = 96;

/**
 * A small plot over time of one or two quantities, drawn anew with each sample.
 *
 * @typedef {{key: string, label: string, className: string, isStep?: boolean}} Series
 */
export class Plot {
  #options;
  #drawing;
  #now;
  #scale;
  #cursor;

  /**
   * @param {{title: string, series: Series[], capacity: number, format: (value: number | null) => string,
   *   least: number, marks?: (sample: object) => boolean}} options `least`: the smallest top of the scale.
   */
  constructor(options) {
    this.#options = options;
    this.#drawing = makeSVG('svg', {
      viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': options.title,
    });
    this.#scale = make('span', { className: 'plot-scale', 'aria-hidden': 'true' });
    this.#cursor = make('span', { className: 'plot-cursor', 'aria-hidden': 'true', hidden: true });
    this.#now = new Map(options.series.map(({ key }) => [key, make('b', {}, '–')]));
    const legend = make('p', { className: 'plot-legend' }, ...options.series.map(({ key, label, className }) => make(
      'span', { className: `key ${className}` }, `${label} `, this.#now.get(key))));
    this.element = make(
      'section', { className: 'plot' },
      make('header', {}, make('h3', {}, options.title), legend),
      make('div', { className: 'plot-area' }, this.#drawing, this.#scale, this.#cursor));
  }

  /** @param {object[]} samples The newest last. */
  draw(samples) {
    const { series, capacity, format, least, marks, title } = this.#options;
    const latest = samples.at(-1) ?? {};
    for (const { key } of series) this.#now.get(key).textContent = format(latest[key] ?? null);
    const values = samples.flatMap((sample) => series.map(({ key }) => sample[key] ?? 0));
    const top = niceTop(Math.max(least, ...values));
    this.#scale.textContent = format(top);
    const step = width / (capacity - 1);
    const left = width - (samples.length - 1) * step;
    const x = (index) => left + index * step;
    const y = (value) => height - 2 - (value / top) * (height - 6);
    const bands = marks
      ? samples.flatMap((sample, index) => (marks(sample)
        ? [makeSVG('rect', { class: 'mark', x: x(index) - step, y: 0, width: step, height })] : []))
      : [];
    const lines = [0.5, 1].map((part) => makeSVG(
      'line', { class: 'rule', x1: 0, x2: width, y1: y(top * part), y2: y(top * part) }));
    const paths = series.map(({ key, className, isStep }) => makeSVG(
      'path', { class: `line ${className}`, d: path(samples.map((sample) => sample[key] ?? null), x, y, isStep) }));
    this.#drawing.replaceChildren(...bands, ...lines, ...paths);
    const figures = series.map(({ key, label }) => `${label} ${format(latest[key] ?? null)}`);
    this.#drawing.setAttribute('aria-label', `${title}: ${figures.join(', ')}`);
  }

  /** Shows the values of one moment; null: of none. */
  point(sample, position) {
    this.#cursor.hidden = !sample;
    if (!sample) return;
    const { series, format } = this.#options;
    this.#cursor.style.setProperty('--position', position.toFixed(4));
    this.#cursor.dataset.text = series.map(({ key, label }) => `${label} ${format(sample[key] ?? null)}`).join(' · ');
    this.#cursor.classList.toggle('leftward', position > 0.5);
  }
}

/** A line through the values, with gaps where there are none. */
function path(values, x, y, isStep) {
  let result = '';
  let before = null;
  values.forEach((value, index) => {
    if (value !== null) {
      const [left, top] = [x(index).toFixed(1), y(value).toFixed(1)];
      if (before === null) result += `M${left} ${top}`;
      else result += isStep ? `H${left}V${top}` : `L${left} ${top}`;
    }
    before = value;
  });
  return result;
}

/** The next number of the kind 1, 2, 5, 10 … that is not smaller. */
function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 5, 7.5, 10].map((factor) => factor * power).find((top) => top >= value * 1.05) ?? value * 2;
}
