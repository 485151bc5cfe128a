import { setProof } from './signalling.js';

const key = 'confrelay.token';

/**
 * Takes the token from the fragment of the room's link, which browsers send to nobody, and keeps it for this tab: a
 * reload goes back into the call. The address then no longer shows it. A link that is opened where the page is open
 * already changes the fragment alone.
 */
export function takeToken() {
  const token = location.hash.match(/^#token=([A-Za-z0-9._-]+)$/)?.[1];
  try {
    if (token) sessionStorage.setItem(key, token);
    setProof(token ?? sessionStorage.getItem(key));
  } catch {
    setProof(token);
  }
  if (token) history.replaceState(null, '', location.pathname + location.search);
  window.addEventListener('hashchange', takeToken);
}
