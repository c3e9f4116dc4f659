/** Changes of a rollout by the dashboard, and the draining of a node. */
import assert from 'node:assert/strict';
import type { V1Deployment, V1Node } from '@kubernetes/client-node';
import { helloImage } from '../harness/images.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Step } from './step.ts';
import { apply } from './world.ts';

const namespace = 'turns';

/** A Deployment without pods: its revisions are all that matters. */
const deployment = (color: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'turn', namespace },
  spec: {
    ...{ replicas: 0, selector: { matchLabels: { app: 'turn' } } },
    template: {
      metadata: { labels: { app: 'turn' } },
      spec: { containers: [{ name: 'main', image: helloImage, env: [{ name: 'COLOR', value: color }] }] },
    },
  },
});

/** A pod of a node that no machine serves: it ends as soon as it is evicted. */
const stray = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels: { app: name } },
  spec: {
    ...{ nodeName: 'away', terminationGracePeriodSeconds: 0 },
    containers: [{ name: 'main', image: helloImage }],
  },
});

export const rolloutSteps: readonly Step[] = [
  {
    name: 'a Deployment is rolled back to an earlier revision, and not while it is paused',
    async run({ browser, cluster, tokens }) {
      const { kubectl } = cluster;
      const present = () => kubectl.json<V1Deployment>('get', 'deployment', 'turn', '-n', namespace);
      const isAt = (revision: string) => async () =>
        (await present()).metadata?.annotations?.['deployment.kubernetes.io/revision'] === revision;
      await apply(cluster, [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        deployment('red'),
      ]);
      await waitFor('the first revision', isAt('1'));
      await apply(cluster, [deployment('blue')]);
      await waitFor('the second revision', isAt('2'));
      const page = await browser.signIn(tokens.admin, `k/deployments.apps/${namespace}/turn/rollout`);
      const back = page.getByRole('button', { name: 'Roll back to it' });
      await back.waitFor();
      await page.getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByText('Deployment turn is paused.').waitFor();
      await back.waitFor({ state: 'detached' });
      assert.equal((await present()).spec?.paused, true);
      await page.getByRole('button', { name: 'Resume', exact: true }).click();
      await page.getByText('Deployment turn is resumed.').waitFor();
      await back.click();
      const dialog = page.getByRole('dialog', { name: 'Roll turn back to revision 1' });
      await dialog.getByRole('button', { name: 'Roll back' }).click();
      await page.getByText('Deployment turn is rolled back to revision 1.').waitFor();
      await waitFor('the third revision', isAt('3'));
      const { spec } = await present();
      assert.equal(spec?.paused ?? false, false);
      assert.equal(spec?.template.spec?.containers[0]?.env?.[0]?.value, 'red');
      await page.context().close();
    },
  },
  {
    name: 'a node is drained: pods without a controller stay until the user says so, and a budget delays one',
    async run({ browser, cluster, tokens }) {
      const { kubectl } = cluster;
      const budget = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'kept', namespace },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
      };
      await apply(cluster, [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'away' } }, budget]);
      await apply(cluster, [stray('kept'), stray('loose')]);
      const isThere = async (name: string) =>
        (await kubectl.attempt(['get', 'pod', name, '-n', namespace])).code === 0;
      const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
      const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify(ready)];
      for (const name of ['kept', 'loose']) await kubectl('patch', 'pod', name, '-n', namespace, ...patch);
      const page = await browser.signIn(tokens.admin, 'k/nodes/-/away');
      await page.getByRole('button', { name: 'Drain', exact: true }).click();
      const dialog = page.getByRole('dialog');
      const row = (name: string) => dialog.getByRole('listitem').filter({ hasText: `${namespace}/${name}` });
      await row('loose').getByText('stays', { exact: true }).waitFor();
      await dialog.getByLabel('End pods that no controller replaces').check();
      await row('loose').getByText('ends', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
      await row('loose').waitFor({ state: 'detached' });
      await row('kept')
        .getByText(/disruption budget/)
        .waitFor();
      assert.deepEqual([await isThere('loose'), await isThere('kept')], [false, true]);
      const { spec } = await kubectl.json<V1Node>('get', 'node', 'away');
      assert.equal(spec?.unschedulable, true);
      await kubectl('delete', 'pdb', 'kept', '-n', namespace);
      await row('kept').waitFor({ state: 'detached' });
      await dialog.getByText(/^The node is drained/).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      assert.equal(await isThere('kept'), false);
      await page.context().close();
      await kubectl('delete', 'node', 'away');
      await kubectl('delete', 'namespace', namespace, '--wait=false');
    },
  },
];
