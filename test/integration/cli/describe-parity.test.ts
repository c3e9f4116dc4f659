/** `ctl describe` beside kubectl 1.32 on one server: the same lines, except for named differences. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { workloadCases } from './describe-cases.ts';
import { labels } from './describe-objects.ts';
import { otherCases } from './describe-other-cases.ts';

const cases = [...workloadCases, ...otherCases];

/**
 * An intended difference, and the replacements in the text of ctl (`ours`) and of kubectl (`theirs`) after
 * which both are equal.
 */
interface Difference {
  readonly why: string;
  readonly kinds?: readonly string[];
  readonly ours?: (text: string) => string;
  readonly theirs?: (text: string) => string;
}

/** Replaces ages in seconds at the end of lines, such as those of the pods of a node. */
function withoutAges(text: string): string {
  return text.replace(/( )\d+s$/gm, '$1AGE');
}

const differences: readonly Difference[] = [
  {
    why: 'the first cause stands below the events of an object with a problem',
    ours: (text) => text.replace(/^Why: .*\n/gm, ''),
  },
  {
    why: 'the two commands run one after the other: ages in seconds may differ',
    ours: withoutAges,
    theirs: withoutAges,
  },
  {
    why: 'two objects of one name are told apart with -A: kubectl leaves out the namespace',
    kinds: ['daemonset', 'role', 'rolebinding'],
    ours: (text) => text.replace(/^Namespace: +default\n/m, ''),
  },
  {
    why: 'the value of a label in the environment is shown: kubectl shows none',
    kinds: ['pod', 'pods', 'pod/web'],
    ours: (text) => text.replaceAll(/web \(v1:metadata.labels/g, ' (v1:metadata.labels'),
  },
  {
    why: 'an optional source that is not set is false: kubectl prints <nil> or an address in memory',
    theirs: (text) => text.replaceAll('<nil>', 'false'),
  },
  {
    why: 'names and prefixes end with the same line: kubectl adds an empty line after a prefix',
    theirs: (text) => text.replace(/\n\n$/, '\n'),
    ours: (text) => text.replace(/\n\n$/, '\n'),
  },
];

function comparable(text: string, words: string, side: 'ours' | 'theirs'): string[] {
  const [kind = ''] = words.split(' ');
  return differences
    .filter(({ kinds }) => kinds === undefined || kinds.includes(kind))
    .reduce((so, difference) => difference[side]?.(so) ?? so, text)
    .split('\n');
}

describe('ctl describe beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;

  const created = async (path: string, object: JsonObject): Promise<JsonObject> => {
    const { status, text } = await server.call('POST', path, object);
    assert.equal(status, 201, `${path}: ${text}`);
    return JSON.parse(text) as JsonObject;
  };

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    for (const { path, object, status } of cases) {
      if (!path) continue;
      const one = await created(path, object);
      if (!status) continue;
      const { name } = object.metadata as { readonly name: string };
      const put = await server.call('PUT', `${path}/${name}/status`, { ...one, status });
      assert.equal(put.status, 200, put.text);
    }
    await addEvents();
  });
  after(() => server.stop());

  const addEvents = async () => {
    const { text } = await server.call('GET', '/api/v1/namespaces/default/pods/web');
    const { metadata } = JSON.parse(text) as { readonly metadata: { readonly uid: string } };
    const about = { kind: 'Pod', name: 'web', namespace: 'default', uid: metadata.uid, apiVersion: 'v1' };
    for (const [name, more] of [
      ['one', { count: 3, firstTimestamp: '2020-01-02T03:04:05Z', lastTimestamp: '2021-01-02T03:04:05Z' }],
      ['two', { count: 1, firstTimestamp: '2022-01-02T03:04:05Z', lastTimestamp: '2022-01-02T03:04:05Z' }],
    ] as const)
      await created('/api/v1/namespaces/default/events', {
        metadata: { name },
        involvedObject: about,
        type: 'Warning',
        reason: 'Failed',
        message: `message ${name}`,
        source: { component: 'kubelet', host: 'node-1' },
        ...more,
      });
  };

  for (const one of cases)
    it(`prints the lines of kubectl describe ${one.words}`, async () => {
      const args = ['describe', ...one.words.split(' ')];
      const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.deepEqual([ours.status, ours.err], [0, ''], ours.err);
      assert.equal(theirs.status, 0, theirs.err);
      assert.deepEqual(comparable(ours.out, one.words, 'ours'), comparable(theirs.out, one.words, 'theirs'));
    });

  for (const line of [
    'pods',
    'pods -A',
    'pod we',
    'pod nosuch',
    'pods -l app=web',
    'pods -l app=other',
    'pod/web secret/s',
    'pod web --show-events=false',
    'configmap,secret -l tier=front',
  ])
    it(`prints the lines of kubectl describe ${line}`, async () => {
      const args = ['describe', ...line.split(' ')];
      const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      assert.deepEqual(
        [ours.status, ours.err, comparable(ours.out, line, 'ours')],
        [theirs.status, theirs.err, comparable(theirs.out, line, 'theirs')],
      );
    });

  it('reads the objects of a manifest', async () => {
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels } });
    const args = ['describe', '-f', '-'];
    const [ours, theirs] = await Promise.all([
      ctl(args, { stdin: manifest }),
      kubectl(args, { stdin: manifest }),
    ]);
    assert.deepEqual(comparable(ours.out, 'pod', 'ours'), comparable(theirs.out, 'pod', 'theirs'));
  });

  it('reports what a user may not read, and describes the rest', async () => {
    await created('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'few' },
      rules: [
        {
          apiGroups: ['', 'apps'],
          resources: ['persistentvolumeclaims', 'nodes', 'services', 'deployments'],
          verbs: ['get'],
        },
      ],
    });
    await created('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'few' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'few' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'guest' }],
    });
    const guest = ctlFor(await server.kubeconfigFor('guest', []));
    for (const [words, lines] of [
      ['pvc data', [/^Used By: +<not authorized: /m, /^Events: +<not authorized: /m]],
      ['node node-1', [/^Pods: +<not authorized: /m, /^Lease: +Failed to get lease: <not authorized/m]],
      ['service web', [/^Endpoints: +<not authorized: /m]],
      ['deployment web', [/^ReplicaSets: +<not authorized: /m]],
    ] as const) {
      const { status, out, err } = await guest(['describe', ...words.split(' ')]);
      assert.equal(status, 0, err);
      for (const line of lines) assert.match(out, line);
    }
  });
});
