import { byID, make, setIcon } from './dom.js';
import { LevelMeter } from './level-meter.js';
import { currentCall, preferences } from './preferences.js';

const roomPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Says why a room's name cannot be had; an empty text where it can. */
export function roomProblem(room) {
  if (room === '') return 'Give the room a name.';
  if (!roomPattern.test(room) || room === '.' || room === '..') {
    return 'A room’s name has up to 64 letters, digits, “-”, “_” and “.”.';
  }
  return '';
}

/** The page before a call: which room, as whom, with which camera and microphone. */
export class JoinView {
  #root = byID('join');
  #video = byID('preview-video');
  #meter = new LevelMeter(byID('level'));
  #media;
  #onJoin;
  #hasOpened = false;
  /** What was asked for last, which the PIN is for. */
  #watches = false;
  /** What is shown to be wrong with the devices. */
  #problems = '';

  /**
   * @param {import('./local-media.js').LocalMedia} media
   * @param {(choice: {room: string, name: string, watchOnly: boolean}) => void} onJoin
   */
  constructor(media, onJoin) {
    this.#media = media;
    this.#onJoin = onJoin;
    media.addEventListener('change', () => { if (!this.#root.hidden) this.#draw(); });
    byID('preview-camera').addEventListener('click', () => this.#toggle('camera'));
    byID('preview-microphone').addEventListener('click', () => this.#toggle('microphone'));
    byID('camera-choice').addEventListener('change', ({ target }) => this.#choose('camera', target.value));
    byID('microphone-choice').addEventListener('change', ({ target }) => this.#choose('microphone', target.value));
    byID('join-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit(false);
    });
    byID('room-pin').addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      // A form takes this for a click on Join, also of a person who only wants to watch.
      event.preventDefault();
      if (!byID('join-button').disabled) this.#submit(this.#watches);
    });
    byID('watch-button').addEventListener('click', () => this.#submit(true));
    byID('room-name').addEventListener('input', () => this.#showError('room', ''));
  }

  /** @param {{room?: string, notice?: string}} options `notice`: what to say before anything else; the
   * camera stays off then until it is asked for, as nobody expects a call that is over to film them. */
  show({ room = '', notice = '' } = {}) {
    const known = preferences.read();
    byID('room-name').value = room || known.room || '';
    byID('own-name').value = known.name ?? '';
    byID('join-heading').textContent = room ? `Join ${room}` : 'Join a room';
    byID('join-notice').textContent = notice;
    byID('join-notice').hidden = notice === '';
    this.fail('');
    this.#root.hidden = false;
    document.title = room ? `${room} · confrelay` : 'confrelay';
    (byID('room-name').value ? byID('own-name') : byID('room-name')).focus({ preventScroll: true });
    this.#draw();
    this.#hasOpened = false;
    if (notice === '') this.#openDevices();
  }

  #openDevices() {
    if (this.#hasOpened) return Promise.resolve();
    this.#hasOpened = true;
    const { camera, microphone } = preferences.read();
    return this.#media.open({ camera: camera !== false, microphone: microphone !== false });
  }

  hide() {
    this.#root.hidden = true;
    byID('lobby-note').hidden = true;
    byID('stop-waiting').hidden = true;
    byID('room-pin').value = '';
    byID('pin-field').hidden = true;
    this.#video.srcObject = null;
    this.#meter.close();
    this.busy = false;
  }

  /** Says why joining did not work. `wantsPIN`: the room has a PIN. */
  fail(text, wantsPIN = false) {
    byID('lobby-note').hidden = true;
    byID('stop-waiting').hidden = true;
    byID('stop-waiting').onclick = null;
    if (wantsPIN) {
      byID('pin-field').hidden = false;
      byID('room-pin').focus();
    }
    if (text !== '') byID('join-notice').hidden = true;
    byID('join-error').textContent = text;
    byID('join-error').hidden = text === '';
    this.busy = false;
  }

  /** Says that a moderator has to let one in. */
  waitInLobby(onStop) {
    this.busy = true;
    // A person who stops the waiting is not coming back any more.
    byID('join-notice').hidden = true;
    byID('join-button').textContent = 'Waiting…';
    byID('lobby-note').hidden = false;
    const stop = byID('stop-waiting');
    stop.hidden = false;
    stop.onclick = () => {
      onStop();
      this.fail('');
    };
  }

  /**
   * Counts down to another attempt, visibly.
   *
   * @param {number} seconds From now on; a little is added, so that not all who were refused come at one time.
   * @returns {Promise<boolean>} Whether there is to be another attempt; false when the person has stopped it.
   */
  countDown(seconds) {
    this.busy = true;
    const stop = byID('stop-waiting');
    const end = performance.now() + (seconds + Math.random()) * 1000;
    return new Promise((resolve) => {
      const finish = (goesOn) => {
        clearInterval(timer);
        stop.hidden = true;
        stop.removeEventListener('click', stopped);
        this.busy = goesOn;
        resolve(goesOn);
      };
      const draw = () => {
        const left = Math.ceil((end - performance.now()) / 1000);
        if (left > 0) byID('join-button').textContent = `Trying again in ${left} s`;
        else finish(true);
      };
      const stopped = () => finish(false);
      const timer = setInterval(draw, 250);
      stop.addEventListener('click', stopped);
      stop.hidden = false;
      draw();
    });
  }

  set busy(isBusy) {
    byID('join-button').disabled = isBusy;
    byID('watch-button').disabled = isBusy;
    byID('join-button').textContent = isBusy ? 'Joining…' : 'Join';
  }

  async #submit(watchOnly) {
    const room = byID('room-name').value.trim();
    const name = byID('own-name').value.trim();
    const problem = roomProblem(room);
    this.#showError('room', problem);
    this.fail('');
    if (problem) {
      byID('room-name').focus();
      return;
    }
    this.busy = true;
    this.#watches = watchOnly;
    // Just watch closes the devices. A person who joins after that needs them again.
    if (watchOnly) this.#hasOpened = false;
    else await this.#openDevices();
    preferences.update({
      room, name, cameraID: this.#media.cameraID, microphoneID: this.#media.microphoneID,
    });
    this.#onJoin({ room, name, watchOnly, pin: byID('room-pin').value });
  }

  #showError(field, text) {
    const element = byID(`${field}-error`);
    element.textContent = text;
    element.hidden = text === '';
    byID(`${field}-name`).setAttribute('aria-invalid', text !== '');
  }

  #toggle(kind) {
    const isOn = kind === 'camera' ? this.#media.cameraIsOn : this.#media.microphoneIsOn;
    this.#hasOpened = true;
    preferences.update({ [kind]: !isOn });
    if (kind === 'camera') this.#media.setCamera(!isOn);
    else this.#media.setMicrophone(!isOn);
    this.#remember();
  }

  #choose(kind, deviceID) {
    preferences.update({ [kind]: true, [`${kind}ID`]: deviceID });
    if (kind === 'camera') this.#media.openCamera(deviceID);
    else this.#media.openMicrophone(deviceID);
    this.#remember();
  }

  /** A reload in the lobby turns nothing on again. */
  #remember() { currentCall.update(this.#media.wanted); }

  #draw() {
    const media = this.#media;
    const stream = media.camera ? new MediaStream([media.camera]) : null;
    if (this.#video.srcObject?.getTracks()[0] !== media.camera) this.#video.srcObject = stream;
    this.#video.hidden = stream === null;
    byID('preview-note').hidden = stream !== null;
    this.#meter.follow(media.microphoneIsOn ? media.microphone : null);
    drawToggle(byID('preview-camera'), 'camera', media.cameraIsOn);
    drawToggle(byID('preview-microphone'), 'microphone', media.microphoneIsOn);
    drawChoice(byID('camera-choice'), media.cameras, media.cameraID, 'camera');
    drawChoice(byID('microphone-choice'), media.microphones, media.microphoneID, 'microphone');
    const problems = Object.values(media.problems).filter(Boolean);
    const ofBoth = problems[0]?.replace('the camera', 'camera and microphone');
    const texts = ofBoth !== problems[0] && problems[0].replace('camera', 'microphone') === problems[1]
      ? [ofBoth] : problems;
    // Screen readers read it out again where the same is written again.
    if (texts.join() === this.#problems) return;
    this.#problems = texts.join();
    const hint = make(
      'p', { className: 'hint' }, 'You can still join: the others see your name in place of your picture.');
    byID('device-problems').replaceChildren(
      ...texts.map((text) => make('p', {}, text)), ...(texts.length > 0 ? [hint] : []));
  }
}

function drawToggle(button, kind, isOn) {
  button.setAttribute('aria-pressed', isOn);
  button.classList.toggle('off', !isOn);
  button.title = isOn ? `Turn the ${kind} off` : `Turn the ${kind} on`;
  setIcon(button, isOn ? kind : `${kind}-off`);
}

function drawChoice(select, devices, chosenID, kind) {
  const known = devices.filter(({ deviceId }) => deviceId !== '');
  select.disabled = known.length === 0;
  if (known.length === 0) {
    select.replaceChildren(make('option', {}, devices.length > 0 ? 'Not allowed yet' : `No ${kind}`));
    return;
  }
  select.replaceChildren(...known.map(({ deviceId, label }, index) => make(
    'option', { value: deviceId, selected: deviceId === chosenID }, label || `${kind} ${index + 1}`)));
}
