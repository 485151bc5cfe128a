import { bitRate, frameRate, milliseconds, percent, size } from './format.js';

/** How many of the latest samples a diagnosis looks at. */
const span = 5;

/**
 * Says in words how good the picture is, and what it is that keeps it from being better.
 *
 * @param {object[]} samples As `Statistics` takes them, the newest last.
 * @returns {{quality: 'good' | 'fair' | 'poor' | 'unknown', headline: string, text: string}}
 */
export function diagnose(samples) {
  const relay = samples.at(-1)?.relay;
  if (relay?.videoPaused) return videoPaused;
  const recent = samples.slice(-span).filter((sample) => sample.frameRate !== null);
  if (recent.length < 2) {
    return { quality: 'unknown', headline: 'Measuring…', text: 'This takes a few seconds.' };
  }
  const mean = (key) => average(recent.map((sample) => sample[key]));
  const latest = recent.at(-1);
  const shown = `${size(latest.width, latest.height)} at ${frameRate(mean('frameRate'))}`;
  const advice = 'A cable, a place closer to the access point, or fewer downloads beside the call help.';

  if (mean('frameRate') < 1) {
    return {
      quality: 'poor', headline: 'No picture arrives',
      text: 'Nothing was decoded in the last seconds. The relay sends again as soon as your connection lets it.',
    };
  }
  if (mean('undecoded') > 0.1) {
    return {
      quality: 'poor', headline: 'This device is too slow',
      text: `It drops ${percent(mean('undecoded'))} of the pictures that arrive. Closing other programs or tabs helps.`,
    };
  }
  if (mean('loss') > 0.03) {
    return {
      quality: 'poor', headline: 'Packets get lost on the way to you',
      text: `${percent(mean('loss'))} of them in the last seconds. The relay repairs what it can and sends less: `
        + `${shown}. ${advice}`,
    };
  }
  const limit = explain(relay);
  if (limit) return { ...limit, text: `${limit.text} You get ${shown}.` };
  if (recent.some((sample) => sample.freezes > 0)) {
    return {
      quality: 'fair', headline: 'The picture stood still for a moment',
      text: `It moves again: ${shown}. This happens when the connection changes faster than the relay can follow.`,
    };
  }
  if (mean('roundTripTime') > 400) {
    return {
      quality: 'fair', headline: 'The way to the relay is long',
      text: `An answer takes ${milliseconds(mean('roundTripTime'))}. The picture is sharp, but comes late.`,
    };
  }
  const target = latest.targetBitRate === null
    ? '' : ` The relay would send you up to ${bitRate(latest.targetBitRate)}.`;
  const shared = relay?.sharedView
    ? ' Everyone gets the same picture, with you in it, so that the relay can serve more people.' : '';
  return {
    quality: 'good', headline: 'Your picture is as sharp as possible', text: `You get ${shown}.${target}${shared}`,
  };
}

/** What people are told while the relay sends audio alone. */
export const videoPaused = {
  quality: 'poor', headline: 'Video is paused: your connection carries audio only',
  text: 'The relay tries again every few seconds, and shows the picture as soon as your connection carries it.',
};

/** What the relay itself says keeps the picture small, slow or coarse. */
function explain(relay) {
  if (!relay) return null;
  const target = bitRate(relay.targetBitRate);
  switch (relay.limit) {
    case 'network':
      return {
        quality: 'fair', headline: 'Your connection carries no more right now',
        text: `The relay has measured about ${target} on the way to you, `
          + 'and fits the picture to that so that it keeps moving.',
      };
    case 'receiver':
      return {
        quality: 'fair', headline: 'This browser takes no larger picture',
        text: 'The relay sends the largest that the browser said it decodes.',
      };
    case 'processing':
      return {
        quality: 'fair', headline: 'The relay is busy',
        text: 'It has too little time for all pictures, so it leaves some out.',
      };
    default:
      return null;
  }
}

function average(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
}
