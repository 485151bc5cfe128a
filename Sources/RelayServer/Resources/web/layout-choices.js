import { Refusal } from './signalling.js';

/** Chooses layouts during a call: for oneself, and for everyone. */
export class LayoutChoices {
  /** The choice for oneself (`layout`, `participant`, `fit`, `hide`, `selfView`); null: as everyone has it. */
  own = null;
  #membership;
  #room;

  /**
   * @param {() => import('./signalling.js').Membership | null} membership The session that the choices are made in.
   * @param {() => import('./room-state.js').RoomState | null} room The room, which says when its layout has changed.
   */
  constructor(membership, room) {
    this.#membership = membership;
    this.#room = room;
  }

  /** Chooses for the view of this participant alone; a key that is undefined is as everyone has it. */
  async choose(changes) {
    const choice = { ...this.own, ...changes };
    if (!choice.hide?.length) delete choice.hide;
    const isEmpty = Object.values(choice).every((value) => value === undefined);
    await this.#setOwn(isEmpty ? null : choice);
  }

  /** Chooses for what everyone sees; keys that are given are given up in one's own choice. */
  async chooseForAll(changes) {
    await this.#membership()?.setRoomLayout({ ...this.#room()?.layout, ...changes });
    const own = Object.fromEntries(Object.keys(changes).map((key) => [key, undefined]));
    if (this.own && Object.keys(changes).some((key) => key in this.own)) await this.choose(own);
  }

  /** In another session the same people have other ids: what is about them is given up. */
  async renew() {
    if (!this.own) return;
    try {
      await this.#setOwn(this.own);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 422) throw error;
      const isAboutSomebody = this.own.participant !== undefined;
      await this.choose({ hide: undefined, participant: undefined, ...(isAboutSomebody && { layout: undefined }) });
    }
  }

  async #setOwn(layout) {
    await this.#membership()?.setOwnLayout(layout);
    this.own = layout;
    this.#room()?.dispatchEvent(new CustomEvent('layout'));
  }
}
