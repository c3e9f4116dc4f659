/** `ctl debug` beside kubectl 1.32: the same pods on the server, and the same lines. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { container } from './parity-cases.ts';

const probe = { httpGet: { path: '/', port: 80 } };
const web = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', labels: { app: 'web' }, annotations: { note: 'kept' } },
  spec: {
    initContainers: [container('init')],
    containers: [
      container('app', {
        env: [{ name: 'A', value: '1' }],
        args: ['run'],
        securityContext: { runAsUser: 5, capabilities: { add: ['SYS_TIME'] } },
        livenessProbe: probe,
        readinessProbe: probe,
        startupProbe: probe,
      }),
      container('side'),
    ],
  },
};

const profiles = ['legacy', 'general', 'baseline', 'netadmin', 'restricted', 'sysadmin'];
const lines: readonly string[] = [
  ...profiles.flatMap((profile) => [
    `web --image=a:1 -c look --profile=${profile}`,
    `web --image=a:1 -c look --copy-to=copy --profile=${profile}`,
    `node/one --image=a:1 --profile=${profile}`,
  ]),
  'web -c app --copy-to=copy --profile=netadmin --image=b:2',
  'web -c app --copy-to=copy --profile=restricted --image=b:2',
  'pod/web --image=a:1 -c look --target=app --env=A=1,B=2 --env=C=x --image-pull-policy=Never -q -- sh -c true',
  'web --image=a:1 -c look --target=app --arguments-only -- -v --target',
  'web --image=a:1 -c look -i --attach=false --profile=general --custom=DIR/custom.json',
  'web --copy-to=copy --set-image=*=x:1,side=y:2',
  'web --copy-to=copy --set-image=app=x:1 --same-node --share-processes=false --replace',
  'web --copy-to=copy -c app -it --attach=false --share-processes -- sh',
  'web --copy-to=copy -c app --arguments-only --env=B=2 -- sleep 5',
  'web --image=a:1 --copy-to=copy -c look --profile=general --keep-labels --keep-annotations --keep-liveness --keep-readiness --keep-startup --keep-init-containers=false',
  'web --image=a:1 --copy-to=copy -c app --profile=baseline --custom=DIR/custom.yaml',
  'node/one --image=a:1 -c look --profile=sysadmin --custom=DIR/custom.json -- sleep 5',
  'web --image=a:1 -c app',
  'nosuch --image=a:1',
  'configmap/kube-root-ca.crt --image=a:1',
  'web --image=a:1 -c look --target=nosuch',
  'web --copy-to=web --image=a:1 -c look',
];

const refused: readonly string[] = [
  'web',
  '--image=a',
  'web --image=A_',
  'web --image=a -t',
  'web --image=a --replace',
  'web --image=a --same-node',
  'web --image=a --set-image=a=b',
  'web --attach',
  'web --copy-to=x',
  'web --copy-to=x -- sh',
  'web --copy-to=x --image=a --target=app',
  'web --copy-to=x --set-image=app=A_',
  'web --copy-to=x --set-image=app',
  'web --image=a --profile=nosuch',
  'web --image=a --image-pull-policy=Sometimes',
  'web --image=a --custom=DIR/missing',
  'web --image=a --custom=DIR/fixed.yaml',
];

/** Sorts variables by name: kubectl writes those of --env in the order of a map of Go, which is random. */
const withSortedVariables = (spec: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(spec), (key, value) =>
    key === 'env' && Array.isArray(value)
      ? value.toSorted((a, b) => String(a.name).localeCompare(String(b.name)))
      : value,
  );

describe('ctl debug beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  let directory: string;

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'debug-parity-'));
    const custom = { env: [{ name: 'A', value: '9' }], securityContext: { runAsUser: 7 } };
    await writeFile(join(directory, 'custom.json'), JSON.stringify(custom));
    await writeFile(join(directory, 'custom.yaml'), 'env:\n- name: Z\n  value: z\nworkingDir: /tmp\n');
    await writeFile(join(directory, 'fixed.yaml'), 'image: b\n');
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'one' } });
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const argsOf = (line: string) => ['debug', ...line.replaceAll('DIR', directory).split(' ').filter(Boolean)];

  const podsIn = async (namespace: string) => {
    const answer = await server.call('GET', `/api/v1/namespaces/${namespace}/pods`);
    return answer.json<{ items: { metadata: JsonObject; spec: JsonObject }[] }>().items;
  };

  /** Returns the pods that a command left in a namespace of its own, and what it printed. */
  const left = async (tool: Ctl, namespace: string, line: string) => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const [plural, object] of [
      ['pods', web],
      ['configmaps', { metadata: { name: 'kube-root-ca.crt' } }],
    ] as const)
      await server.call('POST', `/api/v1/namespaces/${namespace}/${plural}`, object);
    const [verb = '', ...words] = argsOf(line);
    const { status, out, err } = await tool([verb, '-n', namespace, ...words]);
    const pods = await podsIn(namespace);
    const suffix = /(node-debugger-one-)\w{5}/g;
    return {
      status,
      out: out.replaceAll(suffix, '$1'),
      err,
      pods: pods.map(({ metadata: { name, labels, annotations }, spec }) => ({
        name: String(name).replaceAll(suffix, '$1'),
        labels,
        annotations,
        spec: withSortedVariables(spec),
      })),
    };
  };

  it('leaves the same pods and prints the same lines', async () => {
    for (const [index, line] of lines.entries()) {
      const [ours, theirs] = await Promise.all([
        left(ctl, `ours-${index}`, line),
        left(kubectl, `theirs-${index}`, line),
      ]);
      assert.deepEqual(ours, theirs, line);
      assert.ok(ours.pods.length > 0, line);
    }
  });

  it('refuses what kubectl refuses, and leaves no pod', async () => {
    for (const line of refused) {
      const [ours, theirs] = await Promise.all([ctl(argsOf(line)), kubectl(argsOf(line))]);
      assert.deepEqual(
        [ours.status, theirs.status, ours.out],
        [1, 1, ''],
        `${line}: ${ours.err}${theirs.err}`,
      );
      assert.match(ours.err, /^ctl debug: |^error: |^--profile/, line);
    }
    assert.deepEqual(await podsIn('default'), []);
  });

  it('chooses a name that no container of the pod has', async () => {
    await server.call('POST', '/api/v1/namespaces/default/pods', web);
    const { out, status } = await ctl(['debug', 'web', '--image=a:1', '--profile=general']);
    assert.equal(status, 0);
    const name = /^Defaulting debug container name to (debugger-\w{5})\.\n$/.exec(out)?.[1];
    const [pod] = await podsIn('default');
    const added = (pod?.spec.ephemeralContainers ?? []) as { name: string }[];
    assert.deepEqual(
      added.map((one) => one.name),
      [name],
    );
  });

  it('adds no container to a pod that has ended, and names the way that works', async () => {
    await server.call('POST', '/api/v1/namespaces/default/pods', { ...web, metadata: { name: 'over' } });
    const path = '/api/v1/namespaces/default/pods/over';
    const pod = (await server.call('GET', path)).json();
    await server.call('PUT', `${path}/status`, { ...pod, status: { phase: 'Succeeded' } });
    const { status, err } = await ctl(['debug', 'over', '--image=a:1', '--profile=general']);
    assert.equal(status, 1);
    assert.match(err, /pod over, which has ended \(Succeeded\); debug a copy of it: --copy-to=NAME/);
    const copied = await ctl([
      'debug',
      'over',
      '--image=a:1',
      '--profile=general',
      '-c',
      'x',
      '--copy-to=again',
    ]);
    assert.deepEqual(copied, { status: 0, out: '', err: '' });
  });
});
