import { byID, icon, make, setIcon } from './dom.js';

/** Who is here, who speaks, whose picture is pinned, and whose is hidden. */
export class PeoplePanel {
  #list = byID('people');
  #count = byID('people-count');
  #actions;
  #rows = new Map();

  /**
   * @param {{pin: (id: string | null) => void, hide: (id: string, isHidden: boolean) => void,
   *   showSelf: (isShown: boolean) => void, avatar: (isWanted: boolean) => void, hand: (isRaised: boolean) => void,
   *   moderate: (method: string, ...values: unknown[]) => void}} actions What the buttons ask for: one
   *   participant large, or nobody; one not to be seen, or to be seen again; oneself in the picture; an avatar.
   */
  constructor(actions) {
    this.#actions = actions;
    this.#list.replaceChildren();
  }

  /**
   * @param {import('./room-state.js').RoomState} room
   * @param {object | null} own What is chosen for one's own picture.
   */
  draw(room, own) {
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
      row.update(participant, room, own);
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
    const pin = button('pin', () => this.#actions.pin(isPinned ? null : id));
    const hide = button('eye-off', () => {
      if (isSelf) this.#actions.showSelf(!showsSelf);
      else this.#actions.hide(id, !isHidden);
    });
    const avatar = button('avatar', () => this.#actions.avatar(!hasAvatar));
    const hand = button('hand', () => this.#actions.hand(!hasHand));
    const more = button('more', () => {
      setModeration(moderation.hidden);
      // The list may show two rows only, and this one at its end.
      if (!moderation.hidden) moderation.scrollIntoView({ block: 'nearest' });
    });
    const setModeration = (isOpen) => {
      moderation.hidden = !isOpen;
      more.setAttribute('aria-expanded', isOpen);
    };
    let [isSelf, isPinned, isHidden, showsSelf, hasAvatar, hasHand] = [false, false, false, false, false, false];
    const moderation = this.#moderation(id);
    const buttons = make('span', { className: 'person-buttons' }, hand, avatar, hide, pin, more);
    const element = make(
      'li', { className: 'person' }, initials, make('span', { className: 'who' }, name, state), marks, buttons,
      moderation);
    const update = (participant, room, own) => {
      isSelf = room.isSelf(participant);
      isPinned = own?.layout === 'pinned' && own.participant === id;
      const isHiddenFromAll = room.layout?.hide?.includes(id) ?? false;
      isHidden = isHiddenFromAll || (own?.hide?.includes(id) ?? false);
      showsSelf = own?.selfView === 'always';
      hasAvatar = participant.avatar === true;
      hasHand = participant.hand === true;
      initials.textContent = initialsOf(participant.name);
      name.textContent = isSelf ? `${participant.name} (you)` : participant.name;
      const speaks = room.speaks(participant);
      element.classList.toggle('speaks', speaks);
      const words = isHiddenFromAll
        ? 'hidden from everyone' : isHidden ? 'hidden from you' : stateWords(participant, speaks);
      if (state.textContent !== words) state.textContent = words;
      const icons = mediaIcons(participant);
      if (marks.dataset.icons !== icons.join()) {
        marks.dataset.icons = icons.join();
        marks.replaceChildren(...icons.map(icon));
      }
      const isSeen = participant.role !== 'watch';
      pin.hidden = isSelf || !isSeen;
      hide.hidden = !isSeen;
      avatar.hidden = !isSelf || !isSeen;
      hand.hidden = !isSelf;
      toggle(hand, hasHand, hasHand ? 'Lower my hand' : 'Raise my hand');
      more.hidden = isSelf || !room.isModerator;
      label(more, `Moderate ${participant.name}`);
      setModeration(!more.hidden && !moderation.hidden);
      moderation.update(participant, room);
      toggle(pin, isPinned, isPinned ? `Unpin ${participant.name}` : `Show ${participant.name} large`);
      if (isSelf) toggle(hide, showsSelf, showsSelf ? 'Leave me out of my picture' : 'Show me in my picture');
      else toggle(hide, isHidden, isHidden ? `Show ${participant.name} again` : `Hide ${participant.name}`);
      setIcon(hide, isSelf ? 'eye' : 'eye-off');
      toggle(avatar, hasAvatar, hasAvatar ? 'Remove my avatar' : 'Show an avatar while my camera is off');
    };
    return { element, update };
  }

  /** What a moderator can do about a participant. */
  #moderation(id) {
    const act = (method, ...values) => this.#actions.moderate(method, id, ...values);
    let participant = {};
    const action = (name, onClick) => {
      const element = make('button', { type: 'button', className: 'small', 'data-action': name });
      element.addEventListener('click', onClick);
      return element;
    };
    const mute = action('mute', () => act('moderate', { microphone: participant.muted ? 'ask-to-unmute' : 'muted' }));
    const camera = action('camera', () => act('moderate', { camera: participant.cameraOff ? 'allowed' : 'off' }));
    const role = action('role', () => act(
      'moderate', { role: participant.accessRole === 'presenter' ? 'participant' : 'presenter' }));
    const spotlight = action(
      'spotlight', () => this.#actions.moderate('spotlight', spotlight.classList.contains('on') ? null : id));
    const remove = action('remove', () => {
      if (window.confirm(`Remove ${participant.name} from the call, and keep them out?`)) act('remove');
    });
    remove.classList.add('danger');
    const element = make(
      'div', { className: 'person-moderation', hidden: true }, mute, camera, role, spotlight, remove);
    remove.textContent = 'Remove';
    element.update = (changed, { layout }) => {
      const isLarge = layout?.layout === 'pinned' && layout.participant === id;
      spotlight.classList.toggle('on', isLarge);
      spotlight.textContent = isLarge ? 'End spotlight' : 'Spotlight';
      participant = changed;
      mute.textContent = changed.muted ? 'Ask to unmute' : 'Mute';
      camera.textContent = changed.cameraOff ? 'Allow camera' : 'Camera off';
      role.textContent = changed.accessRole === 'presenter' ? 'No longer presenter' : 'Make presenter';
      for (const one of [mute, camera]) one.hidden = changed.role === 'watch';
    };
    return element;
  }
}

function button(iconName, onClick) {
  const element = make('button', { type: 'button', className: 'round tiny' }, icon(iconName));
  element.addEventListener('click', onClick);
  return element;
}

/** The words say what a click does, so nothing is “pressed” beside them. */
function toggle(element, isOn, words) {
  element.classList.toggle('on', isOn);
  label(element, words);
}

function label(element, words) {
  element.setAttribute('aria-label', words);
  element.title = words;
}

function initialsOf(name) {
  const words = name.trim().split(/\s+/);
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return chosen.map((word) => [...word][0] ?? '').join('').toUpperCase();
}

function mediaIcons({ role, microphone, camera, screenShare, hand }) {
  const raised = hand ? ['hand'] : [];
  if (role === 'watch') return raised;
  return [
    ...raised, screenShare ? 'share' : null, microphone === false ? 'microphone-off' : null,
    camera === false ? 'camera-off' : null,
  ].filter(Boolean);
}

function stateWords({ role, connection, microphone, camera, screenShare, muted, cameraOff }, speaks) {
  if (connection === 'reconnecting') return 'reconnecting…';
  if (role === 'watch') return 'watches';
  if (screenShare) return 'shares the screen';
  if (speaks) return 'speaks';
  if (muted && cameraOff) return 'muted and camera off by a moderator';
  if (muted) return 'muted by a moderator';
  if (cameraOff) return 'camera off by a moderator';
  if (microphone === false && camera === false) return 'microphone and camera off';
  if (microphone === false) return 'microphone off';
  if (camera === false) return 'camera off';
  return '';
}
