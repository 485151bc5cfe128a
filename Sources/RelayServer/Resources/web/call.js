import { codecProblem } from './browser-codecs.js';
import { capitalized } from './format.js';
import { LayoutChoices } from './layout-choices.js';
import { MediaReport } from './media-report.js';
import { followNetwork } from './network-changes.js';
import { WakeablePause, pause, pauseAfter, pauses } from './pauses.js';
import { PeerLink } from './peer-link.js';
import { RoomFeed } from './room-feed.js';
import { RoomState } from './room-state.js';
import { ScreenShare } from './screen-share.js';
import { Refusal, Unreachable, join, knownICEServers } from './signalling.js';

/** How long media may stay away before something is done about it; less comes back by itself. */
const grace = 2_000;
/** How long the relay's word about the end of the call may come after the end itself. */
const eventGrace = 300;
/** The time that the relay may take to let a session go before the next one begins. */
const leavingTime = 2_000;
/** Events that were read for this long did not fail at once: the next pause is the shortest again. */
const steadyTime = 10_000;
/** How long the first picture of a relay is waited for before the one before it is left. */
const pictureTime = 2_000;

/** A call that did not come about, and will not by trying on. */
export class CallEnded extends Error {}

/**
 * A call: joins a room, stays in it over changes of network and restarts of the relay, and leaves.
 *
 * Events: `state` (`state`, `reason`), `waiting` (in the lobby, before the call), `picture` (`received`), `room` (a new
 * `room`), `share` (`screen`), `withheld` (kinds of media that are on, and not for the others), `trouble` (a message
 * that is worth showing), `pause` (the milliseconds until it tries again, each second); the last three by `detail`.
 */
export class Call extends EventTarget {
  /** `joining`, `connected`, `reconnecting`, `left` or `ended`. */
  state = 'joining';
  /** Why it is so, in words; empty where that goes without saying. */
  reason = '';
  /** @type {RoomState | null} */ room = null;
  /** The choices of layouts, for oneself and for everyone. */
  layouts = new LayoutChoices(() => this.#membership, () => this.room);
  /** The screen that is shown to the others. */
  screen = new ScreenShare(() => this.#renewScreen(), (error) => this.#trouble(error));
  #options;
  #media;
  #report;
  #link = null;
  /** The link whose picture is seen: the former one, until something comes by the present one. */
  #shown = null;
  #membership = null;
  #feed = null;
  /** How often in a row the events ended soon after they were asked for. */
  #feedFailures = 0;
  #avatar = null;
  #hasRaisedHand = false;
  #iceServers;
  #isRecovering = false;
  /** The relay has said in the present events that it is about to end, while the call came back or moved. */
  #isToMove = false;
  #backOff = new WakeablePause();
  #abort = new AbortController();

  /**
   * @param {{room: string, name: string, watchOnly: boolean, resume: ?string}} options
   * @param {import('./local-media.js').LocalMedia} media
   */
  constructor(options, media) {
    super();
    this.#options = options;
    this.#media = media;
    this.#report = new MediaReport(
      media, () => (this.watchOnly ? null : this.#membership), (error) => this.#trouble(error),
      () => this.room, (kinds) => this.#say('withheld', kinds));
    this.#iceServers = knownICEServers(options.room);
    media.addEventListener('change', () => this.#mediaChanged(), { signal: this.#abort.signal });
    followNetwork(() => this.#networkChanged(), this.#abort.signal);
  }

  get isOver() { return this.state === 'left' || this.state === 'ended'; }

  get watchOnly() { return this.#options.watchOnly; }

  get received() { return this.#link?.received ?? null; }

  /** A reload of the page comes back by these: `{session, moderatorKey}`; empty outside of a session. */
  get proofs() { return this.#membership?.proofs ?? {}; }

  /** One's own id in the room. */
  get id() { return this.#membership?.id ?? null; }

  getStats() { return this.#link?.getStats() ?? Promise.resolve(new Map()); }

  /** Joins; throws when the relay refuses, or is not there. */
  async join() {
    await this.#joinAnew();
    this.#link.connects().catch(() => this.#recover('Media does not get through.'));
  }

  /** Leaves; the relay is told even when the page is going away. */
  leave() {
    if (this.isOver) return Promise.resolve();
    const membership = this.#membership;
    this.#end('left');
    return membership?.leave().catch(() => {}) ?? Promise.resolve();
  }

  /** Tries to come back now rather than at the end of the pause. */
  retry() { this.#backOff.wake(); }

  // MARK: What is sent

  async #renewScreen() {
    this.#say('share');
    // A track that was chosen meanwhile is not kept.
    if (this.isOver) throw new CallEnded('The call is over.');
    // Coming back tells it, too.
    if (this.#isRecovering || !this.#link) return;
    const link = this.#link;
    try {
      await link.setScreen(this.screen.track);
      await this.#renegotiate();
    } catch (error) {
      if (link === this.#link && !this.#isRecovering) throw error;
    }
  }

  async #mediaChanged() {
    await this.#link?.send(this.#media).catch(() => {});
    this.#report.tell();
  }

  /** Shows a picture (PNG) in place of the camera while that is off; null: none. */
  async setAvatar(picture) {
    await this.#membership?.setAvatar(picture);
    this.#avatar = picture;
  }

  // MARK: Joining and coming back

  /** @param elsewhere At another relay. The call goes on at this one until its media comes from there. */
  async #joinAnew({ elsewhere = false } = {}) {
    const formerLink = this.#link;
    const former = this.#membership;
    if (former) this.#options = { ...this.#options, resume: former.session, others: former.others };
    if (!elsewhere) {
      this.#feed?.close();
      this.#membership = null;
      // A relay that is gone gives no answer.
      if (former) await Promise.race([former.leave().catch(() => {}), pause(leavingTime)]);
    }
    const link = new PeerLink({ watchOnly: this.watchOnly, iceServers: await this.#iceServers });
    this.#link = link;
    const begun = link.begins(pictureTime);
    if (formerLink) begun.then(() => this.#show(link));
    else link.addEventListener('picture', () => this.#show(link));
    link.addEventListener('state', () => this.#linkChanged(link));
    if (!this.watchOnly) await link.send(this.#media);
    await link.setScreen(this.screen.track);
    let membership = null;
    try {
      const joined = await join({
        ...this.#options, offer: await link.offer(), signal: this.#abort.signal, onWaiting: () => this.#waits(),
        elsewhere,
      });
      membership = joined.membership;
      if (this.isOver) throw new CallEnded('left');
      // Credentials of servers expire, so that the next link takes the newest.
      if (joined.servers.length > 0) this.#iceServers = joined.servers;
      await link.accept(joined.answer, joined.servers);
      if (this.isOver) throw new CallEnded('left');
      if (elsewhere) {
        await link.connects();
        await Promise.race([begun, pause(pictureTime)]);
        if (this.isOver) throw new CallEnded('left');
        former.leave().catch(() => {});
      }
      this.#membership = membership;
      if (formerLink !== this.#shown) formerLink?.close();
    } catch (error) {
      // The new session is given up. A call that was to move goes on at its former relay.
      membership?.leave().catch(() => {});
      link.close();
      this.#link = formerLink;
      if (this.isOver) formerLink?.close();
      // The relay cannot say more than what the offer had.
      const lack = error instanceof Refusal && error.status === 406 ? codecProblem() : '';
      throw lack ? new Refusal(error.status, lack) : error;
    }
    this.#report.tellAnew();
    if (this.#avatar) this.setAvatar(this.#avatar).catch((error) => this.#trouble(error));
    // Before the events begin, which tell what is chosen.
    await this.layouts.renew().catch((error) => this.#trouble(error));
    if (this.#hasRaisedHand) await this.setHand(true).catch((error) => this.#trouble(error));
    this.room = new RoomState(this.#membership.id);
    // Others may choose for one's own picture, too, and lower one's hand.
    this.room.addEventListener('own', () => {
      this.layouts.own = this.room.ownLayout;
      this.#hasRaisedHand = this.room.hasRaisedHand;
    });
    this.room.addEventListener('tile', () => this.#link.fit(this.room.ownTile));
    this.#say('room');
    this.#openFeed();
  }

  #show(link) {
    if (link !== this.#link || this.isOver) return;
    this.#say('picture');
    // Browsers show black in place of a closed link's last picture.
    if (this.#shown !== link) this.#shown?.close();
    this.#shown = link;
  }

  /** A moderator has to let this participant in, also who comes back late. */
  #waits() {
    if (this.state === 'joining') this.#say('waiting');
    else if (this.state === 'reconnecting') this.#setState(this.state, 'You wait until a moderator lets you in again.');
  }

  #openFeed() {
    const { room } = this;
    const feed = new RoomFeed(this.#membership.eventsURL, this.#membership.session);
    this.#feed?.close();
    this.#feed = feed;
    this.#isToMove = false;
    feed.addEventListener('message', ({ detail }) => {
      if (detail.name === 'moved') this.#moveAway();
      this.#observe(detail);
      room.apply(detail);
    });
    feed.addEventListener('lost', () => this.#feedLost(feed));
  }

  /** Notes that the call is over for good before its media ends: nobody is to try to come back then. */
  #observe({ name, data }) {
    if (name !== 'moderated') return;
    const isOver = data.action === 'ended' || (data.action === 'removed' && data.participant === this.#membership?.id);
    if (!isOver) return;
    const what = data.action === 'ended' ? 'ended the call for everyone' : 'removed you from the call';
    this.#end('ended', `${capitalized(data.by.name)} ${what}.`);
  }

  /** Does what a moderator asks for, by a method of `Membership`. */
  async moderate(method, ...values) { return this.#membership?.[method](...values); }

  /** Raises a hand, or lowers it. */
  async setHand(isRaised) {
    await this.#membership?.setMedia({ hand: isRaised });
    this.#hasRaisedHand = isRaised;
  }

  /** Without events the call may go on, or be over with its relay: asks which. */
  async #feedLost(feed) {
    if (feed.age > steadyTime) this.#feedFailures = 0;
    for (; feed === this.#feed && !this.isOver && !this.#isRecovering; this.#feedFailures += 1) {
      const exists = await this.#membership.exists().catch(() => null);
      if (feed !== this.#feed || this.isOver || this.#isRecovering) return;
      const isGone = exists === null && (this.#membership.hasOthers || !await this.#link.receives());
      if (feed !== this.#feed) return;
      if (exists === false || isGone) {
        this.#recover(isGone ? 'The relay does not answer.' : 'The relay was restarted.');
        return;
      }
      await pause(Math.max(pauseAfter(this.#feedFailures), feed.retryAfter * 1000));
      if (!exists || feed !== this.#feed || this.isOver || this.#isRecovering) continue;
      this.#openFeed();
      this.#report.tell();
    }
  }

  #renegotiate(options) {
    const membership = this.#membership;
    return this.#link.renegotiate((offer) => membership.renegotiate(offer), options);
  }

  async #linkChanged(link) {
    if (link !== this.#link || this.isOver) return;
    if (link.isConnected && !this.#isRecovering) this.#setState('connected');
    if (this.#isRecovering || this.state === 'joining') return;
    if (link.isInterrupted) {
      await pause(grace);
      if (link === this.#link && !link.isConnected) this.#recover('The network is down.');
    } else if (link.isBroken) {
      // An event may say that the call is over, and comes at about the same time.
      await pause(eventGrace);
      if (link === this.#link && link.isBroken) this.#recover('The connection is lost.');
    }
  }

  /** The way to the relay may be another one now: the old one would be found dead only seconds later. */
  #networkChanged() {
    if (this.#isRecovering) this.#backOff.wake();
    else if (this.state === 'connected') this.#recover('The network has changed.');
  }

  /** Comes back: by a restart of the same session while the relay knows it, by joining anew otherwise. */
  async #recover(reason) {
    if (this.#isRecovering || this.isOver) return;
    this.#isRecovering = true;
    this.#setState('reconnecting', reason);
    for (let attempt = 0; !this.isOver; attempt += 1) {
      try {
        await this.#comeBack(attempt);
        break;
      } catch (error) {
        if (this.isOver) break;
        if (error instanceof Refusal && this.#membership === null && !error.isTemporary) {
          this.#end('ended', error.message);
          break;
        }
        const time = Math.max(pauseAfter(attempt), (error.retryAfter ?? 0) * 1000);
        this.#setState('reconnecting', error.message);
        await this.#backOff.countDown(time, this.#abort.signal, (left) => this.#say('pause', left));
      }
    }
    this.#settle();
  }

  /** Ends a coming back or a move, and does what had to wait for that. */
  #settle() {
    this.#isRecovering = false;
    if (this.isOver) return;
    // A call may move before it is connected.
    if (this.#link.isConnected) this.#setState('connected');
    // The relay may have been away when the microphone or the camera was turned on or off.
    this.#report.tell();
    // The events may have ended as well, with the former network.
    if (this.#feed.isLost) this.#feedLost(this.#feed);
    if (this.#link.isBroken) this.#recover('The connection is lost.');
    else if (this.#isToMove) this.#moveAway();
    // The screen may have been shared or taken away meanwhile.
    else if (this.#link.screen !== this.screen.track) this.screen.tell();
  }

  async #comeBack(attempt) {
    if (this.#membership && !this.#link.needsReplacement && attempt < 3) {
      try {
        await this.#link.setScreen(this.screen.track);
        await this.#renegotiate({ restart: true });
        await this.#link.connects();
        return;
      } catch (error) {
        // A relay that refuses the old session can still have a new one; one that is gone has others beside it.
        if (!(error instanceof Refusal) && !(error instanceof Unreachable && this.#membership?.hasOthers)) throw error;
      }
    }
    await this.#joinAnew();
    await Promise.race([this.#link.connects(), this.#goesAgain(this.#feed)]);
  }

  /** Throws when the relay does not know the call any more whose events end; never returns. */
  async #goesAgain(feed) {
    await new Promise((resolve) => { feed.addEventListener('lost', resolve, { once: true }); });
    if (!await this.#membership?.exists().catch(() => false)) throw new Unreachable('The relay is gone again.');
    return new Promise(() => {});
  }

  /** The relay is about to end: goes to another one, and leaves this one when the call goes on there. */
  async #moveAway() {
    this.#isToMove = this.#isRecovering;
    if (this.#isRecovering || this.isOver || !this.#membership?.hasOthers) return;
    this.#isRecovering = true;
    for (let attempt = 0; attempt < pauses.length && !this.isOver; attempt += 1) {
      try {
        await this.#joinAnew({ elsewhere: true });
        break;
      } catch {
        // The call goes on here until the relay ends.
        await pause(pauses[attempt]);
      }
    }
    this.#settle();
  }

  #end(state, reason = '') {
    this.#abort.abort();
    this.#feed?.close();
    this.#link?.close();
    this.#shown?.close();
    this.#membership = null;
    this.#setState(state, reason);
    this.screen.end();
    this.#backOff.wake();
  }

  #setState(state, reason = '') {
    if (this.isOver || (this.state === state && this.reason === reason)) return;
    this.state = state;
    this.reason = reason;
    this.#say('state');
  }

  #trouble(error) {
    // Losing the relay is told by the call's state.
    if (error instanceof Refusal && error.status !== 404) this.#say('trouble', error.message);
  }

  #say(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })); }
}
