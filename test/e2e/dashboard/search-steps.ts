/** The command palette. */
import assert from 'node:assert/strict';
import { waitFor } from '../harness/wait-for.ts';
import { barriers } from './accessibility.ts';
import type { Step } from './step.ts';

export const searchSteps: readonly Step[] = [
  {
    name: 'the palette finds objects by kind, node and state, and the Enter key leads to their table',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/services');
      await page.keyboard.press('Control+k');
      const field = page.getByRole('combobox', { name: 'Search or act' });
      await field.fill(`kind:pod node:${cluster.nodeName} not:ready`);
      await page.getByRole('option', { name: /^broken-/ }).waitFor();
      assert.equal(await page.getByRole('option', { name: /^web-/ }).count(), 0);
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'palette');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Pods' }).waitFor();
      assert.match(page.url(), /\/dashboard\/k\/pods\?q=node/);
      await page.context().close();
    },
  },
  {
    name: 'the palette finds objects by image, address, label and message',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const { items } = await kubectl.json<{ items: { status: { podIP: string } }[] }>(
        'get',
        'pods',
        '-n',
        'shop',
        '-l',
        'app=web',
      );
      const page = await browser.signIn(tokens.admin);
      await page.keyboard.press('Control+k');
      const field = page.getByRole('combobox', { name: 'Search or act' });
      for (const [text, found] of [
        ['no-such-image', /^broken/],
        [items[0]?.status.podIP ?? assert.fail('no address'), /^web-/],
        ['team=blue', /^settings/],
        ['onerror kind:event', /^settings\.1/],
        ['kind:boat dove', /^dove/],
      ] as const) {
        await field.fill(text);
        await page.getByRole('option', { name: found }).first().waitFor();
      }
      await page.context().close();
    },
  },
  {
    name: 'the palette offers actions on what it finds, but none that the user may not do',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin);
      await page.keyboard.press('Control+k');
      const field = page.getByRole('combobox', { name: 'Search or act' });
      await field.fill('delete settings');
      await page.getByRole('option', { name: 'Delete settings' }).filter({ hasText: 'ConfigMap' }).click();
      await page.getByRole('heading', { name: 'Delete ConfigMap settings' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.context().close();

      const viewer = await browser.signIn(tokens.viewer, 'k/pods');
      await viewer.keyboard.press('Control+k');
      await viewer.getByRole('combobox', { name: 'Search or act' }).fill('settings');
      await viewer
        .getByRole('option', { name: /^settings/ })
        .first()
        .waitFor();
      await viewer.getByRole('combobox', { name: 'Search or act' }).fill('delete settings');
      await waitFor('an empty list', async () => (await viewer.getByRole('option').count()) === 0);
      await viewer.context().close();
    },
  },
];
