import { byID, make } from './dom.js';

/** Says something in passing: seen for a few seconds, and read out by screen readers. */
export function notice(text, seconds = 5) {
  const element = make('p', { className: 'toast' }, text);
  const list = byID('notices');
  list.append(element);
  while (list.children.length > 3) list.firstElementChild.remove();
  setTimeout(() => element.remove(), seconds * 1000);
}

/** Takes back all that is still seen, which has no meaning outside of its call. */
export function clearNotices() { byID('notices').replaceChildren(); }
