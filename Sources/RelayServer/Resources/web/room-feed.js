const names = [
  'room', 'participantJoined', 'participantChanged', 'participantLeft', 'activeSpeakerChanged', 'layoutChanged',
  'tileChanged', 'recordingChanged', 'statistics', 'closed',
];

/**
 * The room's server-sent events.
 *
 * Events: `message` (a `CustomEvent` with `{name, data}`), `lost` when the connection is gone. It does not come back by
 * itself: who listens finds out first whether the call is still there.
 */
export class RoomFeed extends EventTarget {
  #source;

  constructor(url) {
    super();
    this.#source = new EventSource(url);
    for (const name of names) {
      this.#source.addEventListener(name, (event) => {
        let data;
        try {
          data = JSON.parse(event.data);
        } catch {
          return;
        }
        this.dispatchEvent(new CustomEvent('message', { detail: { name, data } }));
      });
    }
    this.#source.addEventListener('error', () => {
      this.close();
      this.dispatchEvent(new Event('lost'));
    });
  }

  close() { this.#source.close(); }
}
