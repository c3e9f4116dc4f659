/**
 * The pages of the dashboard with 10,000 pods in Chromium: the first view, the whole list, the longest task
 * of the page, how long keys wait while everything is loaded, and a filter. The floor is a page of some
 * letters of the same server.
 */
import type { Page } from 'playwright-core';
import type { BrowserRig } from '../../e2e/harness/browser.ts';
import { median, type Row } from '../report.ts';
import { podCount } from './many-pods.ts';
import { type Noted, noteInPage, notesOf } from './page-notes.ts';

const runs = Number(process.env.BENCH_RUNS ?? 5);
/** Keys that are typed while a page loads, and the time between them. */
const [keyCount, keyMs] = [25, 60];

interface View {
  readonly name: string;
  readonly path: string;
  /** An expression of the page that is true once the first content is shown. */
  readonly first: string;
  /** An expression of the page that is true once all content is shown. */
  readonly whole: string;
}

const count = podCount.toLocaleString('en');
const views: readonly View[] = [
  {
    name: 'table of pods',
    path: 'k/pods',
    first: `document.querySelector('tbody tr[data-index] a')`,
    whole: `document.querySelector('.count')?.textContent === '${count}'`,
  },
  {
    name: 'overview',
    path: '',
    first: `document.querySelector('.chart-tile')`,
    whole: `/attention/.test(document.querySelector('.section-head h2')?.textContent)`,
  },
  {
    name: 'node map',
    path: 'nodes',
    first: `document.querySelector('.node-box')`,
    whole: `document.querySelector('.pod-block')`,
  },
];

interface Opened extends Noted {
  /** Milliseconds since the beginning of the navigation. */
  readonly first: number;
  readonly whole: number;
}

/** Resolves to the time of the page, since its navigation began, at which an expression is true. */
const reached = (page: Page, expression: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve, reject) => {
    const look = () => ((${expression}) ? resolve(performance.now()) : requestAnimationFrame(look));
    setTimeout(() => reject(new Error(${JSON.stringify(`never true: ${expression}`)})), 120_000);
    look();
  })`);

async function opened(page: Page, { path, first, whole }: View): Promise<Opened> {
  await forgetFiles(page);
  await page.goto(`/dashboard/${path}`, { waitUntil: 'commit' });
  const [at, all] = await Promise.all([reached(page, first), reached(page, whole)]);
  return { ...(await notesOf(page)), first: at, whole: all };
}

/** Types into the search field while the page loads. */
async function typed(page: Page, { path, whole }: View): Promise<Noted> {
  await page.goto(`/dashboard/${path}`, { waitUntil: 'commit' });
  await page.locator('h1').waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('dialog input, [role="combobox"]').first().waitFor();
  for (let key = 0; key < keyCount; key++) {
    await page.keyboard.press(key % 6 === 5 ? 'Backspace' : 'web-1'.charAt(key % 5));
    await page.waitForTimeout(keyMs);
  }
  await reached(page, whole);
  return notesOf(page);
}

/** Returns the milliseconds from a key in the filter until its rows are painted. */
async function filtered(page: Page): Promise<number> {
  const filter = page.getByRole('searchbox', { name: 'Filter the rows' });
  await filter.fill('');
  await reached(page, `document.querySelector('.count')?.textContent === '${count}'`);
  await filter.focus();
  await page.evaluate(
    `globalThis.painted = new Promise((resolve) => {
      let pressed = 0;
      addEventListener('keydown', ({ timeStamp }) => { pressed = timeStamp; }, { capture: true, once: true });
      const seen = new MutationObserver(() => {
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - pressed), 0));
      });
      seen.observe(document.querySelector('.count'), { childList: true, characterData: true, subtree: true });
    }); undefined`,
  );
  await page.keyboard.press('3');
  return page.evaluate<number>('painted');
}

/** A browser keeps the files of the app for a year; a first view loads them. */
async function forgetFiles(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.detach();
}

async function floorOf(page: Page): Promise<number> {
  await page.goto('/livez', { waitUntil: 'commit' });
  return reached(page, `performance.getEntriesByType('paint').length > 0`);
}

export async function measureViews(browser: BrowserRig, token: string): Promise<readonly Row[]> {
  const page = await browser.signIn(token, 'k/namespaces');
  await noteInPage(page);
  const found = new Map<string, number[]>();
  const note = (what: string, value: number) => found.set(what, [...(found.get(what) ?? []), value]);
  // The first round is not counted: the server has not encoded the pods yet.
  for (let run = 0; run <= runs; run++) {
    if (run === 1) found.clear();
    note('floor', await floorOf(page));
    for (const view of views) {
      const { first, whole, longestTask } = await opened(page, view);
      note(`${view.name}: first view`, first);
      note(`${view.name}: everything`, whole);
      note(`${view.name}: longest task`, longestTask);
      if (view.path === 'k/pods')
        note('a key in the filter of the table until its rows are shown', await filtered(page));
      note(`${view.name}: longest wait of a key while it loads`, (await typed(page, view)).longestWait);
    }
  }
  await page.context().close();
  const floor = { what: 'a page with a few letters', value: median(found.get('floor') ?? []) };
  return [...found]
    .filter(([what]) => what !== 'floor')
    .map(([what, values]) => rowOf(what, median(values), floor));
}

const targets: readonly (readonly [pattern: RegExp, most: number])[] = [
  [/first view$/, 1000],
  [/longest wait/, 50],
  [/filter/, 100],
];

function rowOf(what: string, value: number, floor: NonNullable<Row['floor']>): Row {
  const [, most] = targets.find(([pattern]) => pattern.test(what)) ?? [];
  return {
    ...{ what, value, unit: 'ms' },
    ...(/view$|everything$/.test(what) && { floor }),
    ...(most !== undefined && { target: `< ${most}`, met: value < most }),
  };
}
