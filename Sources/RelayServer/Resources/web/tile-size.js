/** The factors by which a camera's picture is made smaller: few, so that small changes of a tile change nothing. */
const factors = [1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 8];

/**
 * By how much to scale a picture down that is shown in a tile: the sent picture covers the tile, and hardly more.
 *
 * @param {{width?: number, height?: number}} source The camera's picture.
 * @param {{width: number, height: number} | null} tile Its place in the composed picture; null while unknown.
 * @param {number} present The factor by which it is scaled down now.
 * @returns {number} For `scaleResolutionDownBy`, 1 or more.
 */
export function scaleDownFactor(source, tile, present = 1) {
  if (!tile || !source.width || !source.height) return 1;
  // Nobody sees it. Only its rate becomes less: a browser that sends a larger size again begins it small where its rate
  // is low at that moment, and may never send it in full again.
  if (tile.width <= 0 || tile.height <= 0) return present;
  const most = Math.min(source.width / tile.width, source.height / tile.height);
  return factors.findLast((factor) => factor <= most) ?? 1;
}
