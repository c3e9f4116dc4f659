/** Facts about the screen, and the time, as signals. */
import { signal } from '@preact/signals';

const narrow = matchMedia('(max-width: 760px)');
export const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** Interval at which the ages that are shown are updated. */
const tickMs = 5_000;

/** The time in milliseconds, for ages; it is not updated while the page is hidden. */
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

/** The key that is pressed with the letter in the shortcuts of this machine. */
export const shortcutKey = /mac/i.test(navigator.platform) ? '⌘' : 'Ctrl';
