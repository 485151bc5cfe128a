import { deviceProblem, insecureContext } from './device-problem.js';

/** 720p at 30 pictures a second, if the camera has it: the relay says how much of that is of use. */
const cameraWish = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 } };
const microphoneWish = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/**
 * One's own camera and microphone. A camera that is off is let go of, so that its light is off too; a microphone that
 * is off stays open and silent, so that it is back at once.
 *
 * Events: `change`, whenever a track, a problem or the list of devices changes; `lost` (with the problem as `detail`),
 * when a device that was in use ends.
 */
export class LocalMedia extends EventTarget {
  /** @type {MediaStreamTrack | null} */ camera = null;
  /** @type {MediaStreamTrack | null} */ microphone = null;
  microphoneIsOn = false;
  /** What was asked to be on, whether or not there is such a device. */
  wanted = { camera: false, microphone: false };
  /** What is wrong with a device, in words; null while nothing is. */
  problems = { camera: null, microphone: null };
  cameras = [];
  microphones = [];
  #opening = { camera: 0, microphone: 0 };
  /** True where no device of a kind was found. */
  #isMissing = { camera: false, microphone: false };
  #chosen;

  /** @param {{cameraID?: string, microphoneID?: string}} chosen The devices used last time. */
  constructor(chosen = {}) {
    super();
    this.#chosen = { camera: chosen.cameraID, microphone: chosen.microphoneID };
    navigator.mediaDevices?.addEventListener?.('devicechange', () => this.#devicesChanged());
  }

  get cameraIsOn() { return this.camera !== null; }

  get cameraID() { return this.camera?.getSettings().deviceId ?? this.#chosen.camera; }

  get microphoneID() { return this.microphone?.getSettings().deviceId ?? this.#chosen.microphone; }

  /** Turns on what is wanted; asks for both at once, so that the browser has one question. */
  async open({ camera, microphone }) {
    this.wanted = { camera, microphone };
    if (camera && microphone && navigator.mediaDevices) {
      const turn = { camera: ++this.#opening.camera, microphone: ++this.#opening.microphone };
      try {
        const stream = await navigator.mediaDevices.getUserMedia({
          video: this.#wish('camera'), audio: this.#wish('microphone'),
        });
        for (const track of stream.getTracks()) {
          this.#take(track.kind === 'video' ? 'camera' : 'microphone', track, turn);
        }
        await this.#list();
        return;
      } catch {
        // One of the two is missing or refused: each by itself tells which, unless it was let go of meanwhile.
        camera = turn.camera === this.#opening.camera;
        microphone = turn.microphone === this.#opening.microphone;
      }
    }
    await Promise.all([camera && this.openCamera(), microphone && this.openMicrophone()]);
  }

  openCamera(deviceID) {
    this.wanted.camera = true;
    return this.#open('camera', deviceID);
  }

  openMicrophone(deviceID) {
    this.wanted.microphone = true;
    return this.#open('microphone', deviceID);
  }

  async setCamera(isOn) {
    if (isOn) return this.openCamera();
    this.wanted.camera = false;
    this.#opening.camera += 1;
    this.#drop('camera');
    this.#changed();
  }

  async setMicrophone(isOn) {
    if (isOn && !this.microphone) return this.openMicrophone();
    this.wanted.microphone = isOn;
    this.microphoneIsOn = isOn && this.microphone !== null;
    if (this.microphone) this.microphone.enabled = this.microphoneIsOn;
    this.#changed();
  }

  /** Lets go of everything. */
  close() {
    this.wanted = { camera: false, microphone: false };
    for (const kind of ['camera', 'microphone']) {
      this.#opening[kind] += 1;
      this.#drop(kind);
    }
    this.#changed();
  }

  async #open(kind, deviceID = this.#chosen[kind]) {
    const turn = { [kind]: ++this.#opening[kind] };
    try {
      if (!navigator.mediaDevices) throw insecureContext();
      this.#chosen[kind] = deviceID;
      const wish = this.#wish(kind);
      const stream = await navigator.mediaDevices.getUserMedia(kind === 'camera' ? { video: wish } : { audio: wish });
      this.#take(kind, stream.getTracks()[0], turn);
    } catch (error) {
      if (turn[kind] !== this.#opening[kind]) return;
      this.#drop(kind);
      this.problems[kind] = deviceProblem(error, kind);
      this.#isMissing[kind] = error.name === 'NotFoundError';
    }
    await this.#list();
  }

  #wish(kind) {
    const wish = kind === 'camera' ? cameraWish : microphoneWish;
    const id = this.#chosen[kind];
    return id ? { ...wish, deviceId: { ideal: id } } : wish;
  }

  /** Takes a track over, unless something else was asked for while it opened. */
  #take(kind, track, turn) {
    if (turn[kind] !== this.#opening[kind]) {
      track.stop();
      return;
    }
    this.#drop(kind);
    this.problems[kind] = null;
    this.#isMissing[kind] = false;
    this[kind] = track;
    this.#chosen[kind] = track.getSettings().deviceId ?? this.#chosen[kind];
    if (kind === 'microphone') {
      // It may have been muted while it opened.
      this.microphoneIsOn = this.wanted.microphone;
      track.enabled = this.microphoneIsOn;
    } else {
      track.contentHint = 'motion';
    }
    track.addEventListener('ended', () => {
      if (this[kind] !== track) return;
      this.#drop(kind);
      this.problems[kind] = `The ${kind} was unplugged or taken away.`;
      this.#changed();
      this.dispatchEvent(new CustomEvent('lost', { detail: this.problems[kind] }));
    });
  }

  #drop(kind) {
    this[kind]?.stop();
    this[kind] = null;
    if (kind === 'microphone') this.microphoneIsOn = false;
  }

  /** Opens what was wanted and is there now. */
  async #devicesChanged() {
    await this.#list();
    for (const [kind, devices] of [['camera', this.cameras], ['microphone', this.microphones]]) {
      if (!this.#isMissing[kind] || !this.wanted[kind] || devices.length === 0) continue;
      this.#isMissing[kind] = false;
      this.#open(kind);
    }
  }

  async #list() {
    const devices = await navigator.mediaDevices?.enumerateDevices?.().catch(() => []) ?? [];
    this.cameras = devices.filter((device) => device.kind === 'videoinput');
    this.microphones = devices.filter((device) => device.kind === 'audioinput');
    this.#changed();
  }

  #changed() { this.dispatchEvent(new Event('change')); }
}
