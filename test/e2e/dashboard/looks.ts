/** A page as people see it: in light and dark colors and on a phone, without barriers. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { BrowserRig } from '../harness/browser.ts';
import { barriers } from './accessibility.ts';

const [desk, phone] = [
  { width: 1280, height: 800 },
  { width: 390, height: 780 },
];

/** Keeps a picture of each look of an open page, which stays as wide as a desk in the end. */
export async function looksWell(browser: BrowserRig, page: Page, name: string): Promise<void> {
  for (const look of ['light', 'dark', 'phone'] as const) {
    await page.emulateMedia({ colorScheme: look === 'dark' ? 'dark' : 'light' });
    await page.setViewportSize(look === 'phone' ? phone : desk);
    // A phone shows the colors and parts of the light look.
    if (look !== 'phone') assert.deepEqual(await barriers(page), [], `${name}, ${look}`);
    const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.equal(width, 0, `${name} is wider than the screen, ${look}`);
    await browser.picture(page, `${name}-${look}`);
  }
  await page.setViewportSize(desk);
}
