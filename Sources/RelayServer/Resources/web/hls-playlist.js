/** The value of an attribute of a tag (RFC 8216, section 4.2), without quotation marks; undefined if it is absent. */
function attribute(line, name) {
  const match = line.match(new RegExp(`[:,]${name}=("([^"]*)"|[^,]*)`));
  return match ? match[2] ?? match[1] : undefined;
}

/** The first stream of a playlist of playlists: its codecs and its own playlist. Null if there is none. */
export function readIndex(text) {
  const lines = text.split('\n');
  const index = lines.findIndex((line) => line.startsWith('#EXT-X-STREAM-INF:'));
  const codecs = index < 0 ? undefined : attribute(lines[index], 'CODECS');
  return codecs && lines[index + 1] ? { codecs, uri: lines[index + 1].trim() } : null;
}

/**
 * What a playlist offers, in order: parts where a segment is offered in parts, else whole segments.
 *
 * Each piece has its place (`segment`, `part`), `uri`, `duration`, `map` (the initialization that it needs), `date`
 * (when it was taken, in milliseconds; that of its segment's beginning and what has passed), and whether a player can
 * begin with it. `next` is what the playlist will have next.
 */
export function readPlaylist(text) {
  const pieces = [];
  let segment = 0;
  let part = 0;
  let map = null;
  let date = null;
  let duration = 0;
  let hasEnded = false;
  let hold = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXT-X-MEDIA-SEQUENCE:')) segment = Number(line.split(':')[1]);
    else if (line.startsWith('#EXT-X-SERVER-CONTROL:')) hold = Number(attribute(line, 'PART-HOLD-BACK') ?? 0);
    else if (line.startsWith('#EXT-X-MAP:')) map = attribute(line, 'URI');
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) date = Date.parse(line.slice(line.indexOf(':') + 1));
    else if (line.startsWith('#EXT-X-PART:')) {
      const length = Number(attribute(line, 'DURATION'));
      pieces.push({
        segment, part, map, date, uri: attribute(line, 'URI'), duration: length,
        isIndependent: attribute(line, 'INDEPENDENT') === 'YES',
      });
      part += 1;
      date = date === null ? null : date + length * 1000;
    } else if (line.startsWith('#EXTINF:')) duration = Number.parseFloat(line.slice(8));
    else if (line.startsWith('#EXT-X-ENDLIST')) hasEnded = true;
    else if (line && !line.startsWith('#')) {
      if (part === 0) pieces.push({ segment, part: null, map, date, uri: line.trim(), duration, isIndependent: true });
      segment += 1;
      part = 0;
      date = null;
    }
  }
  return { pieces, next: { segment, part }, hasEnded, hold };
}

/** Whether a piece comes behind another place. */
export function isBehind(piece, place) {
  return !place || piece.segment > place.segment
    || (piece.segment === place.segment && place.part !== null && (piece.part ?? Infinity) > place.part);
}

/** Where a player begins: the last piece that it can begin with and that is far enough from the end. */
export function beginning({ pieces, hold }) {
  let distance = 0;
  let best = pieces.findLastIndex((piece) => piece.isIndependent);
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    distance += pieces[index].duration;
    if (pieces[index].isIndependent && distance >= hold) {
      best = index;
      break;
    }
  }
  return Math.max(0, best);
}
