/**
 * What is known of the room, from its events.
 *
 * Events: `own` (one's own summary is there or has changed; before the others), `people`, `speaker`, `layout`, `tile`,
 * `statistics`, `recording`, `entry`, `moderated` (what a moderator did), `joined` and `left` (with the participant as
 * `detail`).
 */
export class RoomState extends EventTarget {
  /** @type {Map<string, {id: string, name: string}>} */
  participants = new Map();
  layout = { layout: 'grid' };
  activeSpeaker = null;
  /** Whether the relay records the room. */
  isRecorded = false;
  /** Who may enter: `{locked, lobby, pin}`, and how many wait in the lobby. */
  entry = { locked: false, lobby: false, pin: false };
  waiting = 0;
  /** The size of one's own camera's tile in the others' pictures, and a fitting rate in bit/s; null while unknown. */
  ownTile = null;
  /** What the relay says of this participant's downlink. */
  statistics = null;
  #ownID;

  constructor(ownID) {
    super();
    this.#ownID = ownID;
  }

  /** What the room is told of oneself; null while unknown. */
  get own() { return this.participants.get(this.#ownID) ?? null; }

  /** What is chosen for one's own picture; null: all is as the room has it. */
  get ownLayout() { return this.own?.layout ?? null; }

  /** True while one's own hand is raised. */
  get hasRaisedHand() { return this.own?.hand === true; }

  get others() { return [...this.participants.values()].filter(({ id }) => id !== this.#ownID); }

  /** Whether one's role keeps one's screen from being shown. A token may permit the screen all the same. */
  get mayNotShareScreen() {
    const { own } = this;
    // Also a screen that is permitted is shown only from its first picture on.
    return own !== null && !own.screenShare && !['moderator', 'presenter'].includes(own.accessRole);
  }

  /** Whether this participant may moderate. */
  get isModerator() { return this.own?.accessRole === 'moderator'; }

  isSelf(participant) { return participant.id === this.#ownID; }

  /** Takes one event in. */
  apply({ name, data }) {
    switch (name) {
      case 'room':
        this.participants = new Map(data.participants.map((participant) => [participant.id, participant]));
        this.layout = data.layout ?? this.layout;
        this.activeSpeaker = data.activeSpeaker ?? null;
        this.isRecorded = data.recording != null;
        data.tiles?.forEach((tile) => this.#takeTile(tile));
        this.entry = data.entry ?? this.entry;
        this.waiting = data.waiting ?? 0;
        this.#say('own');
        this.#say('people');
        this.#say('speaker');
        this.#say('layout');
        this.#say('recording');
        this.#say('entry');
        break;
      case 'participantJoined':
      case 'participantChanged': {
        const isNew = !this.participants.has(data.id);
        this.participants.set(data.id, data);
        if (data.id === this.#ownID) this.#say('own');
        if (isNew && data.id !== this.#ownID) this.#say('joined', data);
        this.#say('people');
        this.#say('speaker');
        if (data.id === this.#ownID) this.#say('layout');
        break;
      }
      case 'participantLeft': {
        const participant = this.participants.get(data.id);
        if (!this.participants.delete(data.id)) break;
        if (this.activeSpeaker === data.id) this.activeSpeaker = null;
        this.#say('left', participant);
        this.#say('people');
        this.#say('speaker');
        break;
      }
      case 'activeSpeakerChanged':
        this.activeSpeaker = data.participant ?? null;
        this.#say('people');
        this.#say('speaker');
        break;
      case 'layoutChanged':
        this.layout = data;
        this.#say('layout');
        break;
      case 'entryChanged':
        this.entry = data.entry;
        this.waiting = data.waiting;
        this.#say('entry');
        break;
      case 'moderated':
        this.#say('moderated', data);
        break;
      case 'tileChanged':
        this.#takeTile(data);
        break;
      case 'recordingChanged':
        this.isRecorded = data.state === 'recording';
        this.#say('recording', data);
        break;
      case 'statistics':
        this.statistics = data;
        this.#say('statistics');
        break;
      default:
    }
  }

  /** Whether a participant speaks at this moment. */
  speaks(participant) { return participant.isSpeaking ?? participant.id === this.activeSpeaker; }

  #takeTile({ participant, content, width, height, bitRate }) {
    if (participant !== this.#ownID || content !== 'camera') return;
    this.ownTile = { width, height, bitRate };
    this.#say('tile');
  }

  #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}
