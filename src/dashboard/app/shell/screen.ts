/** Facts of the screen and the time, as signals. */
import { signal } from '@preact/signals';

const narrow = matchMedia('(max-width: 760px)');
export const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** Interval at which ages are shown anew. */
const tickMs = 5_000;

/** The time in milliseconds, for ages; it stands still while the page is hidden. */
export const now = signal(Date.now(), {
  watched() {
    now.value = Date.now();
    ticking = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, tickMs);
  },
  unwatched: () => clearInterval(ticking),
});
let ticking: ReturnType<typeof setInterval> | undefined;

/** The key beside the letter in the shortcuts of this machine. */
export const shortcutKey = /mac/i.test(navigator.platform) ? '⌘' : 'Ctrl';
