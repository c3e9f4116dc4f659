/** Tables of kinds, Kubernetes' own and custom ones. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { waitFor } from '../harness/wait-for.ts';
import { barriers } from './accessibility.ts';
import { hostile } from './hostile.ts';
import type { Step } from './step.ts';
import { isHacked } from './world.ts';

/** Returns the texts of a column of the rows that are drawn. */
async function column(page: Page, name: string): Promise<string[]> {
  const heads = await page.locator('thead th').allTextContents();
  const index = heads.findIndex((head) => head.replace(/[↑↓]/, '') === name);
  assert.ok(index >= 0, `${name} is no column: ${heads.join(', ')}`);
  return page.locator(`tbody tr[data-index] td:nth-child(${index + 1})`).allTextContents();
}

/** Makes ConfigMaps as the user of a page; kubectl would take half a minute. */
const makeConfigMaps = (page: Page, names: readonly string[]): Promise<number[]> =>
  page.evaluate(
    (list) =>
      Promise.all(
        list.map(async (name) => {
          const { status } = await fetch('/api/v1/namespaces/shop/configmaps', {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              'minik8s-session': localStorage.getItem('minik8s-session') ?? '',
            },
            body: JSON.stringify({ metadata: { name, labels: { many: 'yes' } } }),
          });
          return status;
        }),
      ),
    names,
  );

export const tableSteps: readonly Step[] = [
  {
    name: 'the table of pods shows a new pod and the end of a pod without a reload',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/pods?q=fresh');
      await page.getByText('Nothing here matches fresh').waitFor();
      await kubectl('run', 'fresh', '-n', 'shop', '--image=minik8s/hello:1', '--image-pull-policy=Never');
      await page.getByRole('link', { name: 'fresh', exact: true }).waitFor();
      await waitFor('the pod to be shown as running', async () =>
        (await column(page, 'Status')).includes('Running'),
      );
      await kubectl('delete', 'pod', 'fresh', '-n', 'shop', '--grace-period=0', '--force');
      await page.getByText('Nothing here matches fresh').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a filter by state and by node finds the pods that are not ready',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/pods');
      const filter = page.getByRole('searchbox', { name: 'Filter the rows' });
      await page.keyboard.press('/');
      await filter.fill(`ns:shop node:${cluster.nodeName} not:ready`);
      await page.getByRole('link', { name: /^broken-/ }).waitFor();
      await waitFor('the ready pods to be hidden', async () => {
        const names = await column(page, 'Name');
        return names.length === 1 && names[0]?.startsWith('broken-');
      });
      assert.deepEqual(await column(page, 'Namespace'), ['shop']);
      await filter.fill('app=web');
      await waitFor('the pods with a label', async () => (await column(page, 'Name')).length === 2);
      await page.context().close();
    },
  },
  {
    name: 'the table of a custom kind has the columns of its definition, and sorts numbers by size',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/boats.sea.example.org');
      await page.getByRole('link', { name: 'argo' }).waitFor();
      await page.getByRole('button', { name: 'Sails' }).click();
      await waitFor('the order', async () => (await column(page, 'Sails')).join() === '1,3,12');
      await page.getByRole('button', { name: 'Sails' }).click();
      await waitFor('the other order', async () => (await column(page, 'Sails')).join() === '12,3,1');
      assert.equal(await page.locator('th[aria-sort="descending"]').count(), 1);
      assert.equal(await page.getByRole('button', { name: 'Sails' }).getAttribute('title'), hostile);
      assert.equal(await isHacked(page), false);
      await page.context().close();
    },
  },
  {
    name: 'a table of many rows draws those in view, and the End key reaches the last one',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=many=yes');
      const names = Array.from({ length: 150 }, (_, index) => `many-${1000 + index}`);
      assert.deepEqual([...new Set(await makeConfigMaps(page, names))], [201]);
      await page.getByRole('link', { name: 'many-1000' }).waitFor();
      await waitFor(
        'all rows',
        async () => (await page.locator('table').getAttribute('aria-rowcount')) === '151',
      );
      assert.ok((await page.locator('tbody tr[data-index]').count()) < 70);
      await page.getByRole('link', { name: 'many-1000' }).focus();
      await page.keyboard.press('End');
      await page.locator('a:focus', { hasText: 'many-1149' }).waitFor();
      await page.keyboard.press('ArrowUp');
      await page.locator('a:focus', { hasText: 'many-1148' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'many-1148' }).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'the table of pods is accessible in light and dark colors and on a phone',
    async run({ browser, tokens }) {
      for (const [name, options] of [
        ['pods-light', { colors: 'light' }],
        ['pods-dark', { colors: 'dark' }],
        ['pods-phone', { colors: 'light', size: 'phone' }],
      ] as const) {
        const page = await browser.signIn(tokens.admin, 'k/pods', options);
        await page.getByRole('link', { name: /^web-/ }).first().waitFor();
        assert.deepEqual(await barriers(page), [], name);
        const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.equal(width, 0, `${name} is wider than the screen`);
        await browser.picture(page, name);
        await page.context().close();
      }
    },
  },
];
