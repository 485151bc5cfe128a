import { byID, icon, make } from './dom.js';

/** Who is here, who speaks, and whose picture is pinned. */
export class PeoplePanel {
  #list = byID('people');
  #count = byID('people-count');
  #onPin;
  #rows = new Map();

  /** @param {(id: string | null) => void} onPin Asks for one participant large, or nobody. */
  constructor(onPin) {
    this.#onPin = onPin;
    this.#list.replaceChildren();
  }

  /**
   * @param {import('./room-state.js').RoomState} room
   * @param {string | null} pinned
   */
  draw(room, pinned) {
    const everyone = [...room.participants.values()];
    this.#count.textContent = everyone.length > 0 ? String(everyone.length) : '';
    const seen = new Set();
    for (const participant of everyone) {
      seen.add(participant.id);
      let row = this.#rows.get(participant.id);
      if (!row) {
        row = this.#row(participant.id);
        this.#rows.set(participant.id, row);
        this.#list.append(row.element);
      }
      row.update(participant, room, pinned);
    }
    for (const [id, row] of this.#rows) {
      if (seen.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
  }

  /** Rows stay the same elements, so that focus stays where it is. */
  #row(id) {
    const initials = make('span', { className: 'initials', 'aria-hidden': 'true' });
    const name = make('span', { className: 'person-name' });
    const state = make('span', { className: 'person-state' });
    const marks = make('span', { className: 'marks' });
    const pin = make('button', { type: 'button', className: 'round tiny', 'aria-pressed': 'false' }, icon('pin'));
    let isPinned = false;
    pin.addEventListener('click', () => this.#onPin(isPinned ? null : id));
    const element = make(
      'li', { className: 'person' }, initials, make('span', { className: 'who' }, name, state), marks, pin);
    const update = (participant, room, pinned) => {
      const isSelf = room.isSelf(participant);
      isPinned = pinned === id;
      initials.textContent = initialsOf(participant.name);
      name.textContent = isSelf ? `${participant.name} (you)` : participant.name;
      const speaks = room.speaks(participant);
      element.classList.toggle('speaks', speaks);
      const words = stateWords(participant, speaks);
      if (state.textContent !== words) state.textContent = words;
      const icons = mediaIcons(participant);
      if (marks.dataset.icons !== icons.join()) {
        marks.dataset.icons = icons.join();
        marks.replaceChildren(...icons.map(icon));
      }
      pin.hidden = isSelf || participant.role === 'watch';
      pin.setAttribute('aria-pressed', isPinned);
      pin.setAttribute('aria-label', isPinned ? `Unpin ${participant.name}` : `Show ${participant.name} large`);
      pin.title = pin.getAttribute('aria-label');
    };
    return { element, update };
  }
}

function initialsOf(name) {
  const words = name.trim().split(/\s+/);
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return chosen.map((word) => [...word][0] ?? '').join('').toUpperCase();
}

function mediaIcons({ role, microphone, camera, slides }) {
  if (role === 'watch') return [];
  return [
    slides ? 'share' : null, microphone === false ? 'microphone-off' : null, camera === false ? 'camera-off' : null,
  ].filter(Boolean);
}

function stateWords({ role, connection, microphone, camera, slides }, speaks) {
  if (connection === 'reconnecting') return 'reconnecting…';
  if (role === 'watch') return 'watches';
  if (slides) return 'shares the screen';
  if (speaks) return 'speaks';
  if (microphone === false && camera === false) return 'microphone and camera off';
  if (microphone === false) return 'microphone off';
  if (camera === false) return 'camera off';
  return '';
}
