/** The codecs of a call, by what a person knows them as. */
const needed = [['video', 'video/h264', 'H.264 video'], ['audio', 'audio/opus', 'Opus audio']];

/** Says which codec of a call the browser lacks and what to do about it; an empty text where it lacks none. */
export function codecProblem(capabilities = (kind) => RTCRtpReceiver.getCapabilities?.(kind)) {
  const missing = needed.filter(([kind, type]) => {
    const codecs = capabilities(kind)?.codecs;
    return codecs && !codecs.some(({ mimeType }) => mimeType.toLowerCase() === type);
  });
  if (missing.length === 0) return '';
  const names = missing.map(([, , name]) => name).join(' and ');
  return `This browser has no ${names}, which calls here use. Chrome, Edge and Safari have it; Firefox loads it some `
    + 'minutes after its first start. Chromium needs a build with “proprietary codecs”.';
}
