import { capitalized } from './format.js';

/**
 * Says what is wrong with a device and what to do about it.
 *
 * @param {unknown} error What `getUserMedia` or `getDisplayMedia` threw.
 * @param {'camera' | 'microphone' | 'screen'} kind
 */
export function deviceProblem(error, kind) {
  const device = kind === 'screen' ? 'screen sharing' : `the ${kind}`;
  switch (error?.name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return kind === 'screen'
        ? 'Your system does not let the browser see the screen. Allow screen recording for it in the system’s settings.'
        : `The browser does not let this page use ${device}. Allow it beside the address at the top, then try again.`;
    case 'NotFoundError':
      return kind === 'screen'
        ? 'There is no screen to share.' : `No ${kind} was found. Plug one in; this page notices it at once.`;
    case 'NotReadableError':
    case 'AbortError':
      return `The ${kind} does not start. Perhaps another program uses it: close that, then try again.`;
    case 'OverconstrainedError':
      return `The chosen ${kind} is gone. Choose another one.`;
    case 'InsecureContextError':
      return `Browsers give ${device} only to pages that come over HTTPS. Open this page by its https:// address.`;
    default:
      return `${capitalized(device)} cannot be used: ${error?.message ?? error}`;
  }
}

/** What is thrown where the browser has no `mediaDevices`: it hides them from pages over plain HTTP. */
export function insecureContext() {
  return new DOMException('no media devices', 'InsecureContextError');
}
