/** The traffic on the topology, with real connections to a Service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { apply, type World } from './world.ts';

/** Opens twenty connections per second until its input ends. */
const client = (address: string) => `
  const net = require('node:net');
  setInterval(() => net.connect(80, '${address}').on('error', () => {}).on('connect', function () { this.end(); }), 50);
  process.stdin.resume().on('end', () => process.exit());
`;

async function whileCalled(
  { cluster, host }: World,
  service: string,
  work: () => Promise<void>,
): Promise<void> {
  const at = ['get', 'service', service, '-n', 'shop', '-o', 'jsonpath={.spec.clusterIP}'];
  const calls = spawn(...host.command(process.execPath, ['-e', client(await cluster.kubectl(...at))]), {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  try {
    await work();
  } finally {
    calls.stdin?.end();
  }
}

const limited = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'limited', namespace: 'shop' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'limited', namespace: 'shop' },
    rules: [{ apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'limited', namespace: 'shop' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'limited' },
    subjects: [{ kind: 'ServiceAccount', name: 'limited', namespace: 'shop' }],
  },
];

export const trafficSteps: readonly Step[] = [
  {
    name: 'the topology shows the connections per second to a Service and to its pods',
    async run(world) {
      const { browser, tokens } = world;
      await whileCalled(world, 'web', async () => {
        for (const token of [tokens.viewer, tokens.admin]) {
          const page = await browser.signIn(token, 'topology');
          const picture = page.getByRole('region', { name: 'Topology' });
          await picture.getByRole('link', { name: /^web :80 · \d+(\.\d)?\/s/ }).waitFor({ timeout: 60_000 });
          const labels = await picture.locator('.edge-label').allTextContents();
          assert.match(labels.join(' '), /^\d+(\.\d)?\/s$/, 'only the Service web has connections');
          if (token === tokens.admin) await looksWell(browser, page, 'traffic');
          await page.context().close();
        }
      });
    },
  },
  {
    name: 'the topology shows no traffic to a user who may not read it',
    async run(world) {
      const { browser, cluster } = world;
      await apply(cluster, limited);
      const token = (await cluster.kubectl('create', 'token', 'limited', '-n', 'shop')).trim();
      await whileCalled(world, 'web', async () => {
        const page = await browser.signIn(token, 'topology');
        const answer = page.waitForResponse((one) => one.url().includes('/servicetraffics'));
        await page.reload();
        assert.equal((await answer).status(), 403);
        const picture = page.getByRole('region', { name: 'Topology' });
        await picture.getByRole('link', { name: /^web :80/ }).waitFor();
        assert.equal(await picture.locator('.edge-label').count(), 0);
        await page.context().close();
      });
    },
  },
];
