/** `ctl top` beside a metrics server that answers these amounts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { top } from '../../../../src/cli/commands/top.ts';
import type { Cluster } from '../../../../src/cli/connection/cluster.ts';
import { connectionFlags, Flags } from '../../../../src/cli/flags/flags.ts';
import type { VerbContext } from '../../../../src/cli/verb.ts';
import { paletteFor } from '../../../../src/terminal/color.ts';

const root = '/apis/metrics.k8s.io/v1beta1';
const usage = (cpu: string, memory: string) => ({ usage: { cpu, memory } });
const podMetrics = (namespace: string, name: string, ...containers: readonly object[]) => ({
  metadata: { namespace, name },
  containers: containers.map((container, index) => ({ name: `c${index}`, ...container })),
});
const shop = podMetrics('shop', 'web', usage('5m', '10Mi'));
const pods = [
  podMetrics('default', 'small', usage('1m', '300Mi')),
  podMetrics('default', 'big', usage('100m', '50Mi'), usage('150m', '50Mi')),
];
const nodes = [
  { metadata: { name: 'n1' }, ...usage('500m', '1Gi') },
  { metadata: { name: 'n2' }, ...usage('1500m', '512Mi') },
];
const resources = { allocatable: { cpu: '2', memory: '4Gi' }, capacity: { cpu: '4', memory: '8Gi' } };

const answers: Readonly<Record<string, object>> = {
  [`${root}/namespaces/default/pods`]: { items: pods },
  [`${root}/namespaces/shop/pods`]: { items: [shop] },
  [`${root}/pods`]: { items: [...pods, shop] },
  [`${root}/namespaces/default/pods/big`]: pods[1] ?? {},
  [`${root}/namespaces/default/pods?labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn1`]: {
    items: [pods[0]],
  },
  [`${root}/nodes`]: { items: nodes },
  [`${root}/nodes/n2`]: nodes[1] ?? {},
  '/api/v1/nodes': {
    items: [
      { metadata: { name: 'n1' }, status: resources },
      { metadata: { name: 'n2' }, status: {} },
    ],
  },
};

async function run(kind: 'node' | 'pod', ...argv: readonly string[]) {
  const verb = top.verbs[kind] ?? assert.fail();
  const flags = new Flags({ ...connectionFlags, ...verb.flags }, argv);
  const printed: string[] = [];
  const cluster = {
    namespace: flags.text('namespace') ?? 'default',
    get: async (path: string) => answers[path] ?? assert.fail(`nothing is at ${path}`),
  } as unknown as Cluster;
  const io = { out: (text: string) => void printed.push(text) };
  const context = {
    io,
    flags,
    palette: paletteFor('never', {}, false),
    cluster: () => cluster,
    report: assert.fail,
  };
  await verb.run(context as unknown as VerbContext);
  return printed
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).join(' '));
}

describe('ctl top', () => {
  it('adds the containers of each pod of the namespace, by name', async () => {
    assert.deepEqual(await run('pod'), ['NAME CPU(cores) MEMORY(bytes)', 'big 250m 100Mi', 'small 1m 300Mi']);
    assert.deepEqual(await run('pod', '-n', 'shop', '--no-headers'), ['web 5m 10Mi']);
  });

  it('sorts by usage with the largest first', async () => {
    const first = async (by: string) => (await run('pod', `--sort-by=${by}`, '--no-headers'))[0];
    assert.deepEqual([await first('cpu'), await first('memory')], ['big 250m 100Mi', 'small 1m 300Mi']);
    await assert.rejects(run('pod', '--sort-by=name'), /sort-by/);
  });

  it('shows all namespaces, each container, and the sum, as requested', async () => {
    assert.deepEqual(await run('pod', '-A', '--sum'), [
      'NAMESPACE NAME CPU(cores) MEMORY(bytes)',
      'default big 250m 100Mi',
      'default small 1m 300Mi',
      'shop web 5m 10Mi',
      '________ ________',
      '256m 410Mi',
    ]);
    assert.deepEqual(await run('pod', 'big', '--containers'), [
      'POD NAME CPU(cores) MEMORY(bytes)',
      'big c0 100m 50Mi',
      'big c1 150m 50Mi',
    ]);
  });

  it('passes on both selectors, and refuses them beside a name', async () => {
    const selectors = ['-l', 'app=web', '--field-selector=spec.nodeName=n1'];
    assert.deepEqual(await run('pod', ...selectors, '--no-headers'), ['small 1m 300Mi']);
    await assert.rejects(run('pod', 'big', ...selectors), /a name cannot be combined with a selector/);
    await assert.rejects(run('pod', 'big', 'small'), /takes one name/);
  });

  it('shows the share of what pods may use, or of the capacity; an unknown amount has no share', async () => {
    assert.deepEqual(await run('node'), [
      'NAME CPU(cores) CPU(%) MEMORY(bytes) MEMORY(%)',
      'n1 500m 25% 1024Mi 25%',
      'n2 1500m <unknown> 512Mi <unknown>',
    ]);
    assert.equal((await run('node', '--show-capacity'))[1], 'n1 500m 12% 1024Mi 12%');
    assert.equal(
      (await run('node', '--sort-by=cpu', '--no-headers'))[0],
      'n2 1500m <unknown> 512Mi <unknown>',
    );
    assert.deepEqual(await run('node', 'n2', '--no-headers'), ['n2 1500m <unknown> 512Mi <unknown>']);
  });
});
