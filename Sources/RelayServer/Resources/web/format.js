/** Numbers and words as people read them. */

export function capitalized(text) { return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`; }

export function bitRate(value) {
  if (value === null || value === undefined) return '–';
  return value >= 1e6 ? `${(value / 1e6).toFixed(1)} Mbit/s` : `${Math.round(value / 1e3)} kbit/s`;
}

export function milliseconds(value) {
  return value === null || value === undefined ? '–' : `${Math.round(value)} ms`;
}

export function percent(value) {
  if (value === null || value === undefined) return '–';
  return `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
}

export function frameRate(value) {
  return value === null || value === undefined ? '–' : `${Math.round(value)} fps`;
}

export function size(width, height) {
  return width && height ? `${width} × ${height}` : '–';
}
