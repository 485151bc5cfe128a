import { videoPaused } from './diagnosis.js';
import { byID } from './dom.js';
import { LayoutMenu } from './layout-menu.js';
import { MediaTools } from './media-tools.js';
import { ModerationPanel, moderationWords, withheldWords } from './moderation-panel.js';
import { clearNotices, notice } from './notices.js';
import { PeoplePanel } from './people-panel.js';
import { avatarPNG } from './avatar.js';
import { ScreenModes } from './screen-modes.js';
import { Statistics } from './statistics.js';
import { StatisticsPanel } from './statistics-panel.js';
import { WakeLock } from './wake-lock.js';

/** The page during a call. One at a time: it is made for a call, and closed with it. */
export class CallView {
  #root = byID('call');
  #video = byID('remote-video');
  #call;
  #abort = new AbortController();
  #people = new PeoplePanel({
    pin: (id) => this.#pin(id),
    hide: (id, isHidden) => this.#hide(id, isHidden),
    showSelf: (isShown) => this.#choose({ selfView: isShown ? 'always' : 'never' }),
    avatar: (isWanted) => this.#changeAvatar(isWanted),
    hand: (isRaised) => this.#call.setHand(isRaised).catch((error) => notice(error.message)),
    moderate: (method, ...values) => this.#call.moderate(method, ...values).catch((error) => notice(error.message)),
  });
  #layouts = new LayoutMenu(
    (layout, isForAll) => this.#chooseLayout(layout, isForAll), (fit, isForAll) => this.#choose({ fit }, isForAll),
    this.#abort.signal);
  #statisticsPanel = new StatisticsPanel(this.#abort.signal);
  #statistics;
  #isVideoPaused = false;
  #modes = new ScreenModes(this.#video);
  #wakeLock = new WakeLock();
  #moderation;
  #tools;
  #wasAway = false;
  #role;

  /**
   * @param {import('./call.js').Call} call
   * @param {import('./local-media.js').LocalMedia} media
   * @param {string} room
   */
  constructor(call, media, room) {
    this.#call = call;
    this.#statistics = new Statistics(call);
    this.#moderation = new ModerationPanel(call, notice, this.#abort.signal);
    this.#tools = new MediaTools(call, media, this.#abort.signal);
    byID('call-room').textContent = room;
    document.title = `${room} · confrelay`;
    this.#listen();
    this.#root.hidden = false;
    this.#root.classList.toggle('watching', call.watchOnly);
    // Held upright, a phone has room for the list below the picture.
    this.#setPanel('people-panel', matchMedia('(max-width: 44rem) and (orientation: portrait)').matches);
    byID('call-room').focus({ preventScroll: true });
    this.#drawAll();
  }

  close() {
    this.#abort.abort();
    this.#statistics.close();
    this.#modes.close();
    this.#wakeLock.release();
    for (const id of ['people-panel', 'statistics-panel']) this.#setPanel(id, false);
    this.#video.srcObject = null;
    this.#tools.close();
    clearNotices();
    this.#root.hidden = true;
  }

  #listen() {
    const { signal } = this.#abort;
    const on = (target, name, handler) => target.addEventListener(name, handler, { signal });
    const click = (id, handler) => on(byID(id), 'click', handler);
    const call = this.#call;
    on(call, 'state', () => this.#drawState());
    on(call, 'picture', () => this.#showPicture());
    on(call, 'room', () => this.#followRoom());
    on(call, 'pause', ({ detail }) => this.#drawPause(detail));
    on(call, 'trouble', ({ detail }) => notice(detail));
    on(call, 'withheld', ({ detail }) => this.#withhold(detail));
    on(this.#statistics, 'sample', () => this.#drawStatistics());
    on(this.#video, 'resize', () => this.#drawAspect());
    on(this.#video, 'playing', () => this.#drawWaiting());
    on(this.#video, 'pause', () => this.#playOn());
    click('leave', () => call.leave());
    click('retry', () => call.retry());
    click('copy-link', () => this.#copyLink());
    click('invite', () => this.#copyLink());
    click('hear', () => this.#play());
    on(byID('avatar-file'), 'change', () => this.#takeAvatar());
    click('people-button', () => this.#togglePanel('people-panel'));
    click('statistics-button', () => this.#togglePanel('statistics-panel'));
    click('full-screen', () => this.#modes.toggleFullScreen());
    click('picture-in-picture', () => this.#modes.togglePictureInPicture());
    for (const button of this.#root.querySelectorAll('[data-close]')) {
      on(button, 'click', () => this.#setPanel(button.dataset.close, false, true));
    }
    on(byID('layout-for-all'), 'change', () => this.#drawLayout());
    on(document, 'keydown', (event) => this.#key(event));
    if (call.room) this.#followRoom();
    if (call.received) this.#showPicture();
  }

  #followRoom() {
    const { room } = this.#call;
    const { signal } = this.#abort;
    const on = (name, handler) => room.addEventListener(name, handler, { signal });
    on('people', () => { this.#drawPeople(); this.#drawWaiting(); });
    on('speaker', () => this.#drawSpeaker());
    on('recording', ({ detail }) => this.#drawRecording(detail));
    on('entry', () => this.#moderation.draw());
    on('own', () => { this.#moderation.draw(); this.#followRole(); });
    on('moderated', ({ detail }) => this.#tellModeration(detail));
    on('layout', () => { this.#drawLayout(); this.#drawPeople(); });
    on('joined', ({ detail }) => notice(`${detail.name} has joined.`));
    on('left', ({ detail }) => notice(`${detail.name} has left.`));
    this.#drawAll();
  }

  #drawAll() {
    this.#drawState();
    this.#tools.draw();
    this.#drawPeople();
    this.#drawSpeaker();
    this.#drawLayout();
    this.#drawWaiting();
    this.#drawAspect();
  }

  // MARK: The picture

  #showPicture() {
    if (this.#video.srcObject !== this.#call.received) this.#video.srcObject = this.#call.received;
    this.#play();
  }

  async #play() {
    this.#video.muted = false;
    byID('hear').hidden = true;
    try {
      await this.#video.play();
    } catch (error) {
      if (error.name !== 'NotAllowedError') return;
      // After a reload, browsers let audio begin only when the person has clicked.
      this.#video.muted = true;
      byID('hear').hidden = false;
      this.#video.play().catch(() => {});
    }
  }

  /** The page has no controls to go on with: iPhones pause picture and audio at the end of the full screen. */
  async #playOn() {
    try {
      await this.#video.play();
    } catch (error) {
      if (error.name === 'NotAllowedError') byID('hear').hidden = false;
    }
  }

  #drawAspect() {
    const { videoWidth, videoHeight } = this.#video;
    if (videoWidth && videoHeight) byID('picture').style.setProperty('--aspect', (videoWidth / videoHeight).toFixed(4));
  }

  #drawWaiting() {
    const { room, state } = this.#call;
    const isUnseen = room && room.participants.size > 0 && room.others.every(({ role }) => role === 'watch');
    const alone = room?.others.length > 0 ? 'Everyone else only watches' : 'Nobody else is here yet';
    const hasPicture = this.#video.videoWidth > 0 && this.#video.readyState >= 2;
    const text = state === 'joining' ? 'Joining…' : isUnseen ? alone : hasPicture ? '' : 'The picture is coming…';
    byID('waiting').hidden = text === '';
    byID('waiting-text').textContent = text;
    byID('invite').hidden = !isUnseen || state === 'joining';
  }

  #drawState() {
    const { state, reason } = this.#call;
    const isAway = state === 'reconnecting';
    byID('connection').hidden = !isAway;
    const text = isAway ? `Reconnecting. ${reason}` : '';
    // Screen readers read it out again where the same is written again.
    if (byID('connection-text').textContent !== text) byID('connection-text').textContent = text;
    byID('connection-pause').textContent = '';
    this.#root.classList.toggle('away', isAway);
    if (state === 'connected') {
      if (this.#wasAway) notice('You are back.');
      this.#wakeLock.hold();
    }
    this.#wasAway = isAway;
    this.#drawWaiting();
  }

  /** Says when the page tries again, where screen readers do not follow each second. */
  #drawPause(milliseconds) {
    const when = milliseconds > 2_000 ? ` in ${Math.ceil(milliseconds / 1000)} s` : '';
    byID('connection-pause').textContent = `Trying again${when}…`;
  }

  #drawSpeaker() {
    const { room } = this.#call;
    const speaker = room?.participants.get(room.activeSpeaker);
    byID('speaking').hidden = !speaker;
    if (speaker) byID('speaking-name').textContent = room.isSelf(speaker) ? 'You speak' : `${speaker.name} speaks`;
  }

  /** @param {?{state: string}} change what has just happened; nothing when the call begins or comes back. */
  #drawRecording(change) {
    const isRecorded = this.#call.room?.isRecorded ?? false;
    byID('recorded').hidden = !isRecorded;
    if (change) notice(isRecorded ? 'This call is recorded from now on.' : 'This call is not recorded any more.');
  }

  // MARK: Layout, people, statistics

  #pin(id) { this.#choose(id ? { layout: 'pinned', participant: id } : { layout: undefined, participant: undefined }); }

  #chooseLayout(layout, isForAll) {
    const participant = layout === 'solo' ? this.#mostImportant : undefined;
    if (layout === 'solo' && !participant) {
      notice('There is nobody else to show yet.');
      this.#drawLayout();
      return;
    }
    this.#choose({ layout: layout ?? undefined, participant }, isForAll);
  }

  /** Whom a layout of one person is about: who is pinned, or else who speaks. */
  get #mostImportant() {
    const { room, layouts } = this.#call;
    const others = room?.others.filter(({ role }) => role !== 'watch') ?? [];
    const isThere = (id) => others.some((other) => other.id === id);
    return [layouts.own?.participant, room?.activeSpeaker].find(isThere) ?? others[0]?.id;
  }

  #hide(id, isHidden) {
    const { room, layouts } = this.#call;
    const without = (ids) => (ids ?? []).filter((other) => other !== id);
    if (isHidden) this.#choose({ hide: [...without(layouts.own?.hide), id] });
    else if (room.layout.hide?.includes(id)) this.#choose({ hide: without(room.layout.hide) }, true);
    else this.#choose({ hide: without(layouts.own?.hide) });
  }

  #choose(changes, isForAll = false) {
    const done = isForAll ? this.#call.layouts.chooseForAll(changes) : this.#call.layouts.choose(changes);
    done.catch((error) => {
      notice(`The layout was not changed: ${error.message}`);
      this.#drawLayout();
    });
  }

  #changeAvatar(isWanted) {
    if (isWanted) byID('avatar-file').click();
    else this.#call.setAvatar(null).catch((error) => notice(`The avatar was not removed: ${error.message}`));
  }

  async #takeAvatar() {
    const input = byID('avatar-file');
    const [file] = input.files;
    input.value = '';
    if (!file) return;
    try {
      await this.#call.setAvatar(await avatarPNG(file));
      notice('Your avatar is shown while your camera is off.');
    } catch (error) {
      notice(`The picture cannot be used: ${error.message}`, 8);
    }
  }

  #drawLayout() { this.#layouts.draw(this.#call.layouts.own, this.#call.room?.layout); }

  #drawPeople() {
    const { room, layouts } = this.#call;
    if (room) this.#people.draw(room, layouts.own);
  }

  #tellModeration(event) {
    const { room } = this.#call;
    const isOwn = event.participant === this.#call.id;
    // The page shows what the relay enforces: turning the microphone on is then what unmutes.
    if (isOwn && event.action === 'muted') this.#tools.turnOff('microphone');
    if (isOwn && event.action === 'cameraOff') this.#tools.turnOff('camera');
    const words = moderationWords(event, room);
    if (words) notice(words, event.action === 'askedToUnmute' ? 12 : 5);
  }

  /** A screen that another role forbids to share is not shared any more. */
  #followRole() {
    const { room, screen } = this.#call;
    const role = room.own?.accessRole;
    if (this.#role && role !== this.#role && screen.isOn && room.mayNotShareScreen) {
      screen.end();
      notice('You may not share your screen any more.', 8);
    }
    this.#role = role;
  }

  /** What the others do not get is off, so that nobody speaks to them in vain. */
  #withhold(kinds) {
    for (const kind of kinds) {
      this.#tools.turnOff(kind);
      notice(withheldWords(kind, this.#call.room.own), 12);
    }
  }

  #drawStatistics() {
    const isPaused = this.#statistics.latest?.relay?.videoPaused ?? false;
    if (isPaused !== this.#isVideoPaused) notice(isPaused ? videoPaused.headline : 'Video is back.');
    this.#isVideoPaused = isPaused;
    if (!byID('statistics-panel').hidden) this.#statisticsPanel.draw(this.#statistics.samples);
  }

  #togglePanel(id) { this.#setPanel(id, byID(id).hidden); }

  /** Opens or closes a panel; there is room for one. */
  #setPanel(id, isOpen, returnsFocus = false) {
    for (const panel of this.#root.querySelectorAll('.panel')) {
      const opens = isOpen && panel.id === id;
      if (panel.id !== id && !isOpen) continue;
      panel.hidden = !opens;
      byID(`${panel.id.replace('-panel', '')}-button`).setAttribute('aria-expanded', opens);
    }
    this.#root.classList.toggle('with-panel', isOpen);
    if (returnsFocus) byID(`${id.replace('-panel', '')}-button`).focus();
    this.#drawStatistics();
  }

  // MARK: The rest

  async #copyLink() {
    const link = new URL(`/rooms/${encodeURIComponent(byID('call-room').textContent)}`, document.baseURI).href;
    try {
      await navigator.clipboard.writeText(link);
      notice('The room’s link is copied.');
    } catch {
      window.prompt('The room’s link:', link);
    }
  }

  #key(event) {
    if (event.key === 'Escape') {
      const panel = this.#root.querySelector('.panel:not([hidden])');
      if (panel?.contains(document.activeElement)) this.#setPanel(panel.id, false, true);
      return;
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || this.#call.watchOnly) return;
    const tools = this.#tools;
    const toggle = { d: () => tools.toggleMicrophone(), e: () => tools.toggleCamera() }[event.key.toLowerCase()];
    if (!toggle) return;
    event.preventDefault();
    // A key that is held is one wish.
    if (!event.repeat) toggle();
  }
}
