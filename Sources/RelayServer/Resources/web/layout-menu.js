import { byID, make, makeSVG } from './dom.js';

/** The layouts a person can choose, with a small drawing of each: rectangles in a box of 32 by 18. */
const layouts = [
  { layout: 'grid', name: 'Grid', boxes: [
    [1, 1, 14.5, 7.5], [16.5, 1, 14.5, 7.5], [1, 9.5, 14.5, 7.5], [16.5, 9.5, 14.5, 7.5],
  ] },
  { layout: 'speaker', name: 'Speaker', boxes: [
    [1, 1, 30, 11], [1, 13, 6.75, 4], [8.75, 13, 6.75, 4], [16.5, 13, 6.75, 4], [24.25, 13, 6.75, 4],
  ] },
  { layout: 'side-by-side', name: 'Side by side', boxes: [[1, 4.5, 14.5, 9], [16.5, 4.5, 14.5, 9]] },
  { layout: 'picture-in-picture', name: 'Picture in picture', boxes: [[1, 1, 30, 16], [21, 11, 9, 5]] },
  { layout: 'presentation', name: 'Presentation', boxes: [
    [1, 1, 22, 16], [24, 1, 7, 4.7], [24, 6.65, 7, 4.7], [24, 12.3, 7, 4.7],
  ] },
  { layout: 'solo', name: 'One person', boxes: [[1, 1, 30, 16]] },
];

/** In place of rectangles, where the room's layout is followed. */
const twoArrows = 'M9 9a7 5.5 0 0 1 13-2.5M23 9a7 5.5 0 0 1-13 2.5M22.5 3v3.5H19M9.5 15v-3.5H13';

/** The choice of layout, for oneself or for everyone. */
export class LayoutMenu {
  #forAll = byID('layout-for-all');
  #fills = byID('layout-fills');
  #choices = byID('layout-choices');
  #onChoice;

  /**
   * @param {(layout: string | null, isForAll: boolean) => void} onChoice null: as everyone sees it.
   * @param {(fit: string, isForAll: boolean) => void} onFit How cameras take their tiles.
   * @param {AbortSignal} signal Ends the menu.
   */
  constructor(onChoice, onFit, signal) {
    this.#onChoice = onChoice;
    // The switch keeps its state from call to call. A new call begins with a layout for oneself.
    this.#forAll.checked = false;
    this.#fills.addEventListener('change', () => {
      onFit(this.#fills.checked ? 'cover' : 'contain', this.#forAll.checked);
    }, { signal });
    const followRoom = this.#choice('room', 'As the room', null);
    this.#choices.replaceChildren(
      followRoom, ...layouts.map(({ layout, name, boxes }) => this.#choice(layout, name, boxes)));
    this.#forAll.addEventListener('change', () => { followRoom.hidden = this.#forAll.checked; }, { signal });
  }

  #choice(value, name, boxes) {
    const input = make('input', { type: 'radio', name: 'layout', value });
    // Arrow keys choose at once, as radio buttons do; the menu stays open for another look.
    input.addEventListener('change', () => this.#choose(value));
    const drawing = makeSVG('svg', { viewBox: '0 0 32 18', class: 'layout-drawing', 'aria-hidden': 'true' });
    if (boxes) drawing.append(...boxes.map(([x, y, width, height]) => makeSVG('rect', { x, y, width, height, rx: 1 })));
    else drawing.append(makeSVG('path', { d: twoArrows }));
    return make('label', { className: 'layout-choice' }, input, drawing, make('span', {}, name));
  }

  #choose(value) {
    const isForAll = this.#forAll.checked;
    this.#onChoice(value === 'room' ? null : value, isForAll);
  }

  /** Shows what is chosen: one's own layout before the room's. */
  draw(ownLayout, roomLayout) {
    const value = this.#forAll.checked ? roomLayout?.layout : ownLayout?.layout ?? 'room';
    for (const input of this.#choices.querySelectorAll('input')) input.checked = input.value === value;
    const fit = this.#forAll.checked ? roomLayout?.fit : ownLayout?.fit ?? roomLayout?.fit;
    this.#fills.checked = fit === 'cover';
  }
}
