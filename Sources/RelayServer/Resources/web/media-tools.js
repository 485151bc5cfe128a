import { deviceProblem } from './device-problem.js';
import { byID, setIcon } from './dom.js';
import { notice } from './notices.js';
import { currentCall, preferences } from './preferences.js';

/** The buttons for microphone, camera and screen, and one's own small picture. */
export class MediaTools {
  #call;
  #media;

  /**
   * @param {import('./call.js').Call} call
   * @param {import('./local-media.js').LocalMedia} media
   * @param {AbortSignal} signal Ends the buttons' work.
   */
  constructor(call, media, signal) {
    this.#call = call;
    this.#media = media;
    byID('share').hidden = call.watchOnly || !navigator.mediaDevices?.getDisplayMedia;
    for (const id of ['microphone', 'camera']) byID(id).hidden = call.watchOnly;
    const on = (target, name, handler) => target.addEventListener(name, handler, { signal });
    on(call, 'share', () => this.#drawShare());
    on(media, 'change', () => this.#drawMedia());
    on(media, 'lost', ({ detail }) => notice(detail, 8));
    on(byID('microphone'), 'click', () => this.toggleMicrophone());
    on(byID('camera'), 'click', () => this.toggleCamera());
    on(byID('share'), 'click', () => this.#toggleShare());
    on(byID('hide-self'), 'click', () => this.#setSelfView(false));
  }

  close() { byID('self-video').srcObject = null; }

  draw() {
    this.#drawMedia();
    this.#drawShare();
  }

  toggleMicrophone() {
    this.#media.setMicrophone(!this.#media.microphoneIsOn).then(() => this.#remember('microphone'));
  }

  toggleCamera() {
    preferences.update({ selfView: true });
    this.#media.setCamera(!this.#media.cameraIsOn).then(() => this.#remember('camera'));
  }

  /** Turns a device off as a moderator wishes, in this call alone; a reload does not turn it on again. */
  turnOff(kind) {
    if (kind === 'camera') this.#media.setCamera(false);
    else this.#media.setMicrophone(false);
    currentCall.update(this.#media.wanted);
  }

  #remember(kind) {
    const { problems, wanted } = this.#media;
    currentCall.update(wanted);
    preferences.update({ [kind]: wanted[kind] });
    if (problems[kind]) notice(problems[kind], 8);
  }

  #drawMedia() {
    const { microphoneIsOn, cameraIsOn, camera } = this.#media;
    drawTool('microphone', microphoneIsOn, 'microphone', 'microphone-off', 'Mute', 'Unmute');
    drawTool('camera', cameraIsOn, 'camera', 'camera-off', 'Stop camera', 'Start camera');
    const self = byID('self-video');
    if (self.srcObject?.getTracks()[0] !== camera) self.srcObject = camera ? new MediaStream([camera]) : null;
    byID('self').hidden = !camera || this.#call.watchOnly || preferences.read().selfView === false;
  }

  #setSelfView(isShown) {
    preferences.update({ selfView: isShown });
    this.#drawMedia();
    if (!isShown) notice('Your camera stays on. Stop and start it to see yourself again.');
  }

  async #toggleShare() {
    if (this.#call.screen.isOn) {
      this.#call.screen.end();
      return;
    }
    let stream;
    try {
      stream = await navigator.mediaDevices.getDisplayMedia({
        video: { width: { max: 1920 }, height: { max: 1080 }, frameRate: { ideal: 15, max: 30 } }, audio: false,
      });
    } catch (error) {
      // A person who closes the browser's dialogue has changed their mind; that is no problem to report.
      if (error.name !== 'NotAllowedError' || /system/i.test(error.message)) notice(deviceProblem(error, 'screen'), 8);
      return;
    }
    await this.#call.screen.begin(stream.getVideoTracks()[0])
      .catch((error) => notice(`The screen cannot be shared: ${error.message}`, 8));
  }

  #drawShare() {
    drawTool('share', this.#call.screen.isOn, 'share-stop', 'share', 'Stop sharing', 'Share screen');
  }
}

function drawTool(id, isOn, iconOn, iconOff, labelOn, labelOff) {
  const button = byID(id);
  // The words say what a click does, so nothing is “pressed” beside them.
  button.classList.toggle('off', !isOn);
  const label = isOn ? labelOn : labelOff;
  button.querySelector('span').textContent = label;
  const key = button.getAttribute('aria-keyshortcuts')?.match(/Control\+(\w)/)?.[1];
  if (key) button.title = `${label} (Ctrl+${key})`;
  setIcon(button, isOn ? iconOn : iconOff);
}
