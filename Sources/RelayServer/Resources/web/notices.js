import { byID, make } from './dom.js';

/** Says something in passing: seen for a few seconds, and read out by screen readers. */
export function notice(text, seconds = 5) {
  const element = make('p', { className: 'toast' }, text);
  const list = byID('notices');
  list.append(element);
  while (list.children.length > 3) list.firstElementChild.remove();
  setTimeout(() => element.remove(), seconds * 1000);
}
