/** `ctl run` and `ctl expose` with overrides, beside kubectl 1.32: the same bytes, and the same objects. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

/** Words of a command; the last one is a patch of --overrides, if it is an object. */
type Line = readonly [words: string, overrides?: unknown];

const sidecar = { name: 'side', image: 'b', env: [{ name: 'A' }], ports: [{ containerPort: 1 }] };
const printed: readonly Line[] = [
  ['run x --image=a:1 --port=80 --expose -l b=1,a=2'],
  ['run x --image=a:1 --port=80 --expose -n other --save-config'],
  ['run x --image=a:1', { spec: { nodeName: 'one', containers: [sidecar] } }],
  ['run x --image=a:1 --override-type=strategic', { spec: { containers: [sidecar], hostPID: true } }],
  [
    'run x --image=a:1 --override-type=json',
    [{ op: 'add', path: '/metadata/annotations', value: { z: '<' } }],
  ],
  [
    'run x --image=a:1',
    { metadata: { labels: { run: null, q: '1' } }, spec: { tolerations: [{ key: 'k' }] } },
  ],
  ['expose pod web --port=80', { spec: { type: 'NodePort', ports: [{ port: 1, nodePort: 30001 }] } }],
  ['expose pod web --port=80 --override-type=strategic', { spec: { ports: [{ port: 81, name: 'b' }] } }],
  ['expose pod web --port=80 --override-type=json', [{ op: 'remove', path: '/spec/selector' }]],
];

const created: readonly Line[] = [
  ['run y --image=a:1 --port=80 --expose --save-config --field-manager=me'],
  ['run z --image=a:1 --port=80 --expose -o name -l app=z', { spec: { nodeSelector: { a: 'b' } } }],
  ['expose pod web --port=80 --name=w', { metadata: { annotations: { a: 'b' } } }],
  ['run y --image=a:1 --dry-run=server -o yaml --port=80 --expose', { spec: { hostNetwork: false } }],
];

const refused: readonly Line[] = [
  ['run x --image=a --expose'],
  ['run x --image=a', '{'],
  ['run x --image=a', 5],
  ['run x --image=a --override-type=json', {}],
  ['run x --image=a --override-type=other', {}],
  ['run x --image=a --override-type=json', [{ op: 'remove', path: '/nosuch' }]],
  ['expose pod web --port=80', { kind: 'Pod' }],
];

const argsOf = ([words, overrides]: Line) => [
  ...words.split(' '),
  ...(overrides === undefined
    ? []
    : ['--overrides', typeof overrides === 'string' ? overrides : JSON.stringify(overrides)]),
];

describe('ctl run beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;

  const web = { metadata: { name: 'web', labels: { app: 'web' } }, spec: { containers: [sidecar] } };
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    for (const name of ['ours', 'theirs', 'other'])
      await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
    for (const namespace of ['default', 'ours', 'theirs'])
      await server.call('POST', `/api/v1/namespaces/${namespace}/pods`, web);
  });
  after(() => server.stop());

  for (const output of ['yaml', 'json', 'name'])
    it(`prints the same as ${output} without creating anything`, async () => {
      for (const line of printed) {
        const args = [...argsOf(line), '--dry-run=client', '-o', output];
        const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
        assert.deepEqual(ours, theirs, args.join(' '));
      }
    });

  it('creates the same objects', async () => {
    const objectsIn = async (namespace: string) => {
      const read = async (plural: string) =>
        (await server.call('GET', `/api/v1/namespaces/${namespace}/${plural}`))
          .json<{ items: { metadata: JsonObject; spec: JsonObject }[] }>()
          .items.map(({ metadata, spec }) => {
            const { clusterIP: _, clusterIPs: __, ...rest } = spec;
            const [first] = metadata.managedFields as { manager: string }[];
            const manager = first?.manager === 'me' ? 'me' : 'other';
            return [metadata.name, metadata.labels, metadata.annotations, manager, rest];
          });
      return [await read('pods'), await read('services')];
    };
    const stable = (text: string) =>
      text.replaceAll(/(uid|creationTimestamp|resourceVersion|clusterIP|namespace):.*|- 10\..*/g, '');
    for (const line of created) {
      const of = (namespace: string) => [...argsOf(line), '-n', namespace];
      const [ours, theirs] = await Promise.all([ctl(of('ours')), kubectl(of('theirs'))]);
      assert.deepEqual({ ...ours, out: stable(ours.out) }, { ...theirs, out: stable(theirs.out) }, line[0]);
    }
    assert.deepEqual(await objectsIn('ours'), await objectsIn('theirs'));
  });

  it('refuses what kubectl refuses, with the name of the flag', async () => {
    for (const line of refused) {
      const [ours, theirs] = await Promise.all([ctl(argsOf(line)), kubectl(argsOf(line))]);
      assert.deepEqual([ours.status, theirs.status, ours.out], [1, 1, ''], `${line[0]}: ${ours.err}`);
      assert.match(ours.err, /--overrides: |--override-type: |--port must be set/);
    }
  });

  it('warns of a field of --overrides that the kind does not have', async () => {
    const { status, err } = await ctl(argsOf(['run w --image=a', { spec: { nodeNaem: 'one' } }]));
    assert.equal(status, 0);
    assert.match(err, /Warning: unknown field "spec\.nodeNaem"/);
  });
});
