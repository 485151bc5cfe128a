/** The longer side of what is sent; the relay keeps no more. */
const longestSide = 512;

/**
 * Makes a picture file of any kind that the browser reads a PNG of modest size.
 *
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function avatarPNG(file) {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture cannot be read'))), 'image/png');
  });
}
