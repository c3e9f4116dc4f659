/** Pages of objects, and their deletion. */
import assert from 'node:assert/strict';
import { waitFor } from '../harness/wait-for.ts';
import { barriers } from './accessibility.ts';
import { hostile } from './hostile.ts';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { apply, isHacked } from './world.ts';

export const objectSteps: readonly Step[] = [
  {
    name: 'scripts in annotations, data and events stay text',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps/shop/settings');
      await page.getByRole('region', { name: 'Data' }).getByText(hostile).waitFor();
      await page.getByText('1 annotation').or(page.getByText('2 annotations')).click();
      await page
        .getByRole('region', { name: 'Labels and annotations' })
        .getByText(hostile, { exact: true })
        .waitFor();
      await page.getByRole('region', { name: 'Latest events' }).getByText(hostile).waitFor();
      await page.getByRole('link', { name: 'YAML' }).click();
      await page.locator('.cm-content').getByText('onerror').first().waitFor();
      assert.equal(await page.locator('img').count(), 0);
      assert.equal(await isHacked(page), false);
      await page.context().close();
    },
  },
  {
    name: 'the value of a Secret is hidden until the user shows it',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/secrets/shop/password');
      await page.getByRole('button', { name: 'Show the value of word' }).waitFor();
      assert.equal(await page.getByText('very-secret-word').count(), 0);
      await page.getByRole('button', { name: 'Show the value of word' }).click();
      await page.getByText('very-secret-word').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'the page of a pod shows its containers and conditions, and is accessible',
    async run({ browser, tokens }) {
      for (const [name, options] of [
        ['pod-light', { colors: 'light' }],
        ['pod-dark', { colors: 'dark' }],
        ['pod-phone', { colors: 'dark', size: 'phone' }],
      ] as const) {
        const page = await browser.signIn(tokens.admin, 'k/pods?q=web', options);
        await page.getByRole('link', { name: /^web-/ }).first().click();
        await page.getByRole('region', { name: 'Containers' }).getByText('minik8s/hello:1').waitFor();
        await page.getByRole('region', { name: 'Conditions' }).getByText('Ready', { exact: true }).waitFor();
        await page.getByRole('region', { name: 'Summary' }).getByText('Running').waitFor();
        assert.deepEqual(await barriers(page), [], name);
        const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.equal(width, 0, `${name} is wider than the screen`);
        await browser.picture(page, name);
        await page.context().close();
      }
    },
  },
  {
    name: 'the page of a Service has the command that forwards its port, if the user may run it',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/services/shop/web');
      const ports = page.getByRole('region', { name: 'Ports' });
      await ports.getByText('minik8s ctl port-forward --namespace shop service/web 8080:80').waitFor();
      const link = ports.getByRole('link', { name: 'http://localhost:8080/' });
      assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
      await looksWell(browser, page, 'service');
      await page.context().close();
      const other = await browser.signIn(tokens.viewer, 'k/services/shop/web');
      await other.getByRole('region', { name: 'Summary' }).waitFor();
      await other.getByRole('link', { name: 'YAML', exact: true }).waitFor();
      assert.equal(await other.getByRole('region', { name: 'Ports' }).count(), 0);
      await other.context().close();
    },
  },
  {
    name: 'the owners of a pod lead to its Deployment',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/pods?q=web');
      await page.getByRole('link', { name: /^web-/ }).first().click();
      await page.getByRole('link', { name: 'Owners' }).click();
      const tree = page.getByRole('region', { name: 'Owners and what they own' });
      await tree.getByRole('link', { name: 'web', exact: true }).click();
      await page.getByRole('heading', { name: 'web', exact: true }).waitFor();
      await browser.picture(page, 'deployment');
      await page.context().close();
    },
  },
  {
    name: 'a deletion names the objects that are deleted with the object, and deletes them',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/deployments.apps/shop/broken');
      await page.getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('1 Pod, 1 ReplicaSet').waitFor();
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'delete');
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('There is no Deployment broken any more.').waitFor();
      await waitFor('the pod to be gone', async () => {
        const { items } = await kubectl.json<{ items: unknown[] }>(
          'get',
          'pods',
          '-n',
          'shop',
          '-l',
          'app=broken',
        );
        return items.length === 0;
      });
      await page.context().close();
    },
  },
  {
    name: 'a namespace is deleted only after its name was typed',
    async run({ browser, cluster, tokens }) {
      const inside = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'inside', namespace: 'doomed' },
      };
      await apply(cluster, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'doomed' } }, inside]);
      const page = await browser.signIn(tokens.admin, 'k/namespaces/-/doomed');
      await page.getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('inside').waitFor();
      const confirm = dialog.getByRole('button', { name: 'Delete' });
      assert.equal(await confirm.isDisabled(), true);
      await dialog.getByRole('textbox').fill('doomed');
      await confirm.click();
      await page.getByText('There is no Namespace doomed any more.').waitFor();
      await page.context().close();
    },
  },
];
