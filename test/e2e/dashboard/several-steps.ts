/** Selected rows of tables, and actions on them. */
import assert from 'node:assert/strict';
import type { V1ConfigMapList, V1DeploymentList, V1Node } from '@kubernetes/client-node';
import type { Page } from 'playwright-core';
import { helloImage } from '../harness/images.ts';
import { waitFor } from '../harness/wait-for.ts';
import { barriers } from './accessibility.ts';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { apply } from './world.ts';

const namespace = 'several';
const bar = (page: Page) => page.getByRole('region', { name: 'Actions on the selected rows' });
const selected = (page: Page, count: string) => bar(page).getByText(`${count} selected`).waitFor();

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });

const deployment = (name: string, paused: boolean) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    ...{ replicas: 0, paused, selector: { matchLabels: { app: name } } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: helloImage, imagePullPolicy: 'Never' }] },
    },
  },
});

export const severalSteps: readonly Step[] = [
  {
    name: 'rows are selected by the keyboard and by clicks, and a row that is gone leaves the selection',
    async run({ browser, cluster, tokens }) {
      await apply(cluster, [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => configMap(`box-${name}`)),
        deployment('plain', false),
        deployment('paused', true),
      ]);
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=name:box-');
      await page.getByRole('link', { name: 'box-a' }).focus();
      for (const key of ['x', 'ArrowDown', 'ArrowDown', 'Shift+X']) await page.keyboard.press(key);
      await selected(page, '3');
      assert.equal(await page.getByLabel('Select box-b').isChecked(), true);
      await page.getByLabel('Select box-e').click();
      await selected(page, '4');
      await page.getByLabel('Select box-a').click({ modifiers: ['Shift'] });
      await bar(page).waitFor({ state: 'detached' });
      await page.getByLabel('Select all rows that are shown').click();
      await selected(page, '6');
      await cluster.kubectl('delete', 'configmap', 'box-f', '-n', namespace);
      await selected(page, '5');
      await cluster.kubectl('label', 'configmap', 'box-e', '-n', namespace, 'live=yes');
      await page.getByRole('searchbox', { name: 'Filter the rows' }).fill('live=yes');
      await bar(page).getByText('5 selected, 4 of them hidden by the filter').waitFor();
      await page.getByRole('searchbox', { name: 'Filter the rows' }).fill('name:box-');
      await looksWell(browser, page, 'several');
      await page.context().close();
    },
  },
  {
    name: 'selected rows are labeled, and a wrong label is rejected before anything is sent',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=name:box-');
      await page.getByLabel('Select all rows that are shown').click();
      await bar(page).getByRole('button', { name: 'Label' }).click();
      const dialog = page.getByRole('dialog', { name: 'Label 5 ConfigMaps' });
      await dialog.getByRole('textbox').fill('tier=two=three');
      await dialog.getByRole('button', { name: 'Label' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('textbox').fill('tier=front live-');
      await dialog.getByRole('button', { name: 'Label' }).click();
      await dialog.getByText('5 done', { exact: true }).waitFor();
      const { items } = await kubectl.json<V1ConfigMapList>('get', 'cm', '-n', namespace, '-l', 'tier=front');
      assert.equal(items.length, 5);
      assert.equal(
        items.some(({ metadata }) => metadata?.labels?.live !== undefined),
        false,
      );
      await dialog.getByRole('button', { name: 'Close' }).click();
      await selected(page, '5');
      await page.context().close();
    },
  },
  {
    name: 'the failure of one deletion is shown with its object, and the others are deleted',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=name:box-');
      await page.getByLabel('Select all rows that are shown').click();
      await bar(page).getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete 5 ConfigMaps' });
      await dialog.getByText('Nothing else is deleted.').waitFor();
      await dialog.getByText('box-c').waitFor();
      assert.deepEqual(await barriers(page), []);
      await kubectl('delete', 'configmap', 'box-c', '-n', namespace);
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByText('4 done, 1 failed').waitFor();
      assert.match(
        (await dialog.getByRole('listitem').first().textContent()) ?? '',
        /failed.*box-c.*not found/,
      );
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'several-results');
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByText('Nothing here matches name:box-').waitFor();
      assert.equal(await bar(page).count(), 0);
      await page.context().close();
    },
  },
  {
    name: 'Deployments are scaled and restarted together, and a paused one says why it is not restarted',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, `k/deployments.apps?q=ns:${namespace}`);
      await page.getByLabel('Select all rows that are shown').click();
      await bar(page).getByRole('button', { name: 'Restart' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Restart' }).click();
      await dialog.getByText('1 done, 1 failed').waitFor();
      await dialog.getByText(/can't restart paused deployment/).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await bar(page).getByRole('button', { name: 'Scale' }).click();
      await dialog.getByLabel('Number of pods of each').fill('1');
      await dialog.getByRole('button', { name: 'Scale' }).click();
      await dialog.getByText('2 done', { exact: true }).waitFor();
      const { items } = await kubectl.json<V1DeploymentList>('get', 'deployments', '-n', namespace);
      assert.deepEqual(
        items.map(({ spec }) => spec?.replicas),
        [1, 1],
      );
      await dialog.getByRole('button', { name: 'Close' }).click();
      await bar(page).getByRole('button', { name: 'Delete' }).click();
      await dialog.getByText(/These objects are deleted with them: /).waitFor();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByText('2 done', { exact: true }).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'nodes are cordoned and uncordoned from their table',
    async run({ browser, cluster: { kubectl, nodeName }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/nodes');
      const dialog = page.getByRole('dialog');
      await page.getByLabel(`Select ${nodeName}`).click();
      for (const word of ['Cordon', 'Uncordon']) {
        await bar(page).getByRole('button', { name: word, exact: true }).click();
        await dialog.getByRole('button', { name: word, exact: true }).click();
        await dialog.getByText('1 done', { exact: true }).waitFor();
        await dialog.getByRole('button', { name: 'Close' }).click();
        const { spec } = await kubectl.json<V1Node>('get', 'node', nodeName);
        assert.equal(spec?.unschedulable === true, word === 'Cordon');
      }
      await page.context().close();
    },
  },
  {
    name: 'objects of a namespace that the user may not change are named and stay, and the others are deleted',
    async run({ browser, cluster }) {
      const { kubectl } = cluster;
      const subjects = [{ kind: 'ServiceAccount', name: 'mixed', namespace }];
      const role = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
      const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', subjects };
      await apply(cluster, [
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'mixed', namespace } },
        { ...rbac, kind: 'ClusterRoleBinding', metadata: { name: 'mixed' }, roleRef: role('view') },
        { ...rbac, kind: 'RoleBinding', metadata: { name: 'mixed', namespace }, roleRef: role('edit') },
        configMap('mixed-own'),
        { ...configMap('mixed-other'), metadata: { name: 'mixed-other', namespace: 'shop' } },
      ]);
      const token = (await kubectl('create', 'token', 'mixed', '-n', namespace)).trim();
      const page = await browser.signIn(token, 'k/configmaps?q=name:mixed-');
      await page.getByLabel('Select all rows that are shown').click();
      await bar(page).getByRole('button', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete 1 ConfigMap' });
      await dialog.getByText('Not in your rights, so left as they are: mixed-other.').waitFor();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await dialog.getByText('1 done', { exact: true }).waitFor();
      assert.equal((await kubectl.attempt(['get', 'configmap', 'mixed-own', '-n', namespace])).code, 1);
      await kubectl('delete', 'configmap', 'mixed-other', '-n', 'shop');
      await kubectl('delete', 'clusterrolebinding', 'mixed');
      await page.context().close();
    },
  },
  {
    name: 'a user who may change nothing cannot select rows',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'k/pods');
      await page.getByRole('link', { name: /^web-/ }).first().waitFor();
      await waitFor('the rights to be known', async () =>
        page.getByRole('navigation', { name: 'Pages and kinds' }).getByText('Rollouts').isVisible(),
      );
      assert.equal(await page.getByRole('checkbox', { name: /^Select/ }).count(), 0);
      await page.context().close();
      await kubectl('delete', 'namespace', namespace, '--wait=false');
    },
  },
];
