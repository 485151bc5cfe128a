/**
 * Notes that the way to the relay may be another one now: the network is back, or is one of another kind.
 *
 * @param {() => void} changed
 * @param {AbortSignal} signal Ends this.
 */
export function followNetwork(changed, signal) {
  window.addEventListener('online', () => changed(), { signal });
  const network = navigator.connection;
  let type = network?.type;
  // The same event comes when the browser thinks anew about rate or delay.
  network?.addEventListener?.('change', () => {
    if (network.type === type) return;
    type = network.type;
    changed();
  }, { signal });
}
