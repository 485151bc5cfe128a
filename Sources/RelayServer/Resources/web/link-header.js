/**
 * The ICE servers that `Link` header fields name (RFC 9725, section 4.6), as `RTCPeerConnection` takes them.
 *
 * @param {string | null} header The field's value, several joined by commas.
 */
export function iceServers(header) {
  const servers = [];
  for (const link of splitOutsideQuotes(header ?? '', ',')) {
    const [target, ...parameters] = splitOutsideQuotes(link, ';');
    const url = target.match(/^<(stuns?:[^>]+|turns?:[^>]+)>$/)?.[1];
    if (!url) continue;
    const named = Object.fromEntries(parameters.map(parameter));
    if (!(named.rel ?? '').split(/\s+/).includes('ice-server')) continue;
    servers.push(named.username === undefined
      ? { urls: url }
      : { urls: url, username: named.username, credential: named.credential ?? '' });
  }
  return servers;
}

/** The URLs of `Link` header fields with `rel="alternate"`: the same join at other relays of the cluster. */
export function alternates(header) {
  return splitOutsideQuotes(header ?? '', ',').flatMap((link) => {
    const [target, ...parameters] = splitOutsideQuotes(link, ';');
    const isAlternate = parameters.map(parameter).some(([name, value]) => name === 'rel' && value === 'alternate');
    const url = target.match(/^<(https?:[^>]+)>$/)?.[1];
    return isAlternate && url ? [url] : [];
  });
}

function parameter(text) {
  const [, name, quoted, plain] = text.match(/^([^=\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(.*))$/) ?? [null, text, '', ''];
  return [name.toLowerCase(), quoted !== undefined ? quoted.replace(/\\(.)/g, '$1') : plain];
}

/** Splits at a separator that is neither in quotes nor in angle brackets. */
function splitOutsideQuotes(text, separator) {
  const parts = [];
  let part = '';
  let quoted = false;
  let inAngles = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (quoted && character === '\\') {
      part += character + (text[index + 1] ?? '');
      index += 1;
      continue;
    }
    if (character === '"') quoted = !quoted;
    if (!quoted && character === '<') inAngles = true;
    if (!quoted && character === '>') inAngles = false;
    if (character === separator && !quoted && !inAngles) {
      parts.push(part.trim());
      part = '';
    } else {
      part += character;
    }
  }
  parts.push(part.trim());
  return parts.filter((found) => found !== '');
}
