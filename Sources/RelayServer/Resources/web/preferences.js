/** What the page keeps in the browser: choices for next time, and what a reload goes back to. */

function read(storage, key) {
  try {
    return JSON.parse(storage().getItem(`confrelay.${key}`) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

function write(storage, key, value) {
  try {
    storage().setItem(`confrelay.${key}`, JSON.stringify(value));
  } catch {
    // Storage that is off or full costs the memory, not the call.
  }
}

const lasting = () => window.localStorage;
const ofThisTab = () => window.sessionStorage;

/** What was chosen last time: `{name, room, microphone, camera, microphoneID, cameraID, selfView}`. */
export const preferences = {
  read: () => read(lasting, 'preferences'),
  update: (changes) => write(lasting, 'preferences', { ...preferences.read(), ...changes }),
};

/**
 * The call that this tab is in, or waits for in the lobby: `{room, name, watchOnly, session, moderatorKey, microphone,
 * camera}`; empty outside of one.
 */
export const currentCall = {
  read: () => read(ofThisTab, 'call'),
  update: (changes) => write(ofThisTab, 'call', { ...currentCall.read(), ...changes }),
  clear: () => write(ofThisTab, 'call', {}),
};

/** This tab's place in a room's lobby, for as long as no join succeeds; after a reload only where there is storage. */
export const lobbyPlace = {
  place: read(ofThisTab, 'lobby'),
  ticket(room) { return this.place.room === room ? this.place.ticket : null; },
  keep(place) {
    this.place = place;
    write(ofThisTab, 'lobby', place);
  },
  clear() { this.keep({}); },
};

/** The room that was moderated last: who comes back to it later, or after a crash, moderates it again. */
export const moderatedRoom = {
  key(room) {
    const last = read(lasting, 'moderated');
    return last.room === room ? last.key : null;
  },
  keep(room, key) { if (key) write(lasting, 'moderated', { room, key }); },
};
