import { byID } from './dom.js';

/** How long after one drawing the next is fetched, and how long when there is no room. */
const interval = 1000;
const patience = 3000;
/** How long the relay may take to answer. */
const longestAnswer = 10_000;

const path = location.pathname.replace(/\/$/, '');
const drawing = byID('debug-drawing');
const state = byID('debug-state');
const pause = byID('debug-pause');
const save = byID('debug-save');
const tip = byID('debug-tip');

let isPaused = false;
let timer = null;
let shown = '';
/** Where the pointer is over the drawing. */
let pointer = null;

const room = decodeURIComponent(path.split('/').at(-2) ?? '');
byID('debug-room').textContent = room;
document.title = `${room} · Debug view`;
byID('debug-data').href = `${path}.json`;
save.href = `${path}.svg`;
save.download = `${room}-debug.svg`;

/**
 * Shows a drawing. The page has its style already, and the page's security policy forbids the drawing's own even while
 * it is parsed: that is taken out of the text. Titles become the page's tips, which outlast a redraw.
 */
function show(text) {
  const bare = text.replace(/<style>[^]*?<\/style>/g, '');
  const parsed = new DOMParser().parseFromString(bare, 'image/svg+xml').documentElement;
  if (parsed.localName !== 'svg') return;
  for (const title of [...parsed.querySelectorAll('title')]) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  drawing.replaceChildren(document.adoptNode(parsed));
  shown = text;
  showTip();
}

function showTip() {
  const element = pointer && document.elementFromPoint(pointer.x, pointer.y)?.closest('[data-tip]');
  tip.hidden = !element;
  if (!element) return;
  tip.textContent = element.dataset.tip;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(pointer.x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${pointer.y + 18 + box.height > innerHeight ? pointer.y - box.height - 10 : pointer.y + 18}px`;
}

async function refresh() {
  timer = null;
  let wait = interval;
  if (!document.hidden) {
    try {
      const response = await fetch(`${path}.svg`, {
        cache: 'no-store', signal: AbortSignal.timeout(longestAnswer),
      });
      if (response.ok) {
        const text = await response.text();
        if (!isPaused) show(text);
        state.textContent = isPaused ? 'Paused' : '';
      } else {
        wait = patience;
        state.textContent = response.status === 404
          ? 'Nobody is in the room. The drawing is the last there was.' : `The relay answers ${response.status}.`;
      }
    } catch {
      wait = patience;
      state.textContent = 'The relay does not answer.';
    }
  }
  if (isPaused) return;
  // A click on Go on may have begun another drawing beside this one.
  clearTimeout(timer);
  timer = setTimeout(refresh, wait);
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.classList.toggle('on', isPaused);
  pause.textContent = isPaused ? 'Go on' : 'Pause';
  state.textContent = isPaused ? 'Paused' : '';
  clearTimeout(timer);
  if (!isPaused) refresh();
});

// What is saved is what is seen, paused or not.
save.addEventListener('click', () => {
  if (!shown) return;
  const address = URL.createObjectURL(new Blob([shown], { type: 'image/svg+xml' }));
  save.href = address;
  setTimeout(() => {
    URL.revokeObjectURL(address);
    save.href = `${path}.svg`;
  }, 10_000);
});

drawing.addEventListener('pointermove', (event) => {
  pointer = { x: event.clientX, y: event.clientY };
  showTip();
});
drawing.addEventListener('pointerleave', () => {
  pointer = null;
  showTip();
});

refresh();
