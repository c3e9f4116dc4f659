/** Notes of a page about itself: its long tasks, and how long keys wait until they are handled. */
import type { Page } from 'playwright-core';

export interface Noted {
  /** Milliseconds of the longest task; 0 if none took 50 ms. */
  readonly longestTask: number;
  /** Milliseconds from the longest waiting key until its handlers ran. */
  readonly longestWait: number;
}

/** Makes each document that a page opens from now on take notes. */
export const noteInPage = (page: Page): Promise<unknown> =>
  page.addInitScript(`
    globalThis.noted = { longestTask: 0, longestWait: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        noted.longestTask = Math.max(noted.longestTask, duration);
    }).observe({ type: 'longtask', buffered: true });
    addEventListener('keydown', ({ timeStamp }) => {
      noted.longestWait = Math.max(noted.longestWait, performance.now() - timeStamp);
    }, { capture: true });
  `);

export const notesOf = (page: Page): Promise<Noted> => page.evaluate<Noted>('noted');
