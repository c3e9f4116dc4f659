/** Earlier templates of workloads: their list, and the patch that restores one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import type { Cluster } from '../../../../src/cli/connection/cluster.ts';
import type { ApiResource } from '../../../../src/cli/objects/discovery.ts';
import { revisionsOf } from '../../../../src/cli/rollout/read-revisions.ts';
import {
  chooseRevision,
  findRevision,
  isTemplateOf,
  patchTo,
  type Revision,
  revisionAnnotation,
  revisionAsObject,
} from '../../../../src/views/revisions.ts';

const resource = (plural: string, kind: string): ApiResource => ({
  ...{ group: 'apps', version: 'v1', plural, kind, namespaced: true },
  ...{ singular: kind.toLowerCase(), shortNames: [], categories: [], verbs: [], subresources: [] },
});
const all = [
  resource('deployments', 'Deployment'),
  resource('replicasets', 'ReplicaSet'),
  resource('controllerrevisions', 'ControllerRevision'),
];
const [deployments] = all;
const owner = (uid: string) => ({ ownerReferences: [{ uid: 'other' }, { uid }] });
const spec = (image: string) => ({ containers: [{ name: 'c', image }] });
const workload = (kind: string) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'w', uid: 'u', annotations: { [revisionAnnotation]: '2', own: 'x' } },
  spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: { metadata: {}, spec: spec('2') } },
});

/**
 * Returns the revisions of a workload of the kind on a server with these items, and the lists that were
 * requested.
 */
async function revisions(kind: string, items: readonly JsonObject[]) {
  const asked: string[] = [];
  const cluster = {
    resources: async () => all,
    get: async (path: string) => {
      asked.push(path);
      return { items };
    },
  } as unknown as Cluster;
  const target = { resource: { ...deployments, kind }, namespace: 'n', name: 'w' } as never;
  return { found: await revisionsOf(cluster, target, workload(kind)), asked };
}

const replicaSet = (revision: string | undefined, uid = 'u', cause?: string) => ({
  metadata: {
    name: `w-${revision}`,
    ...owner(uid),
    annotations: {
      ...(revision !== undefined && { [revisionAnnotation]: revision }),
      ...(cause !== undefined && { 'kubernetes.io/change-cause': cause }),
    },
  },
  spec: {
    template: {
      metadata: {
        creationTimestamp: null,
        labels: { a: 'b', 'pod-template-hash': 'h' },
        annotations: { c: 'd' },
      },
      spec: spec(String(revision)),
    },
  },
});

const plain = (image: string) => ({
  metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
  spec: spec(image),
});

describe('revisions of a Deployment', () => {
  it('are its ReplicaSets that have a revision number, the oldest first', async () => {
    const items = [
      replicaSet('10', 'u', 'tenth'),
      replicaSet('9'),
      replicaSet('3', 'v'),
      replicaSet(undefined),
      replicaSet('0'),
      replicaSet('11'),
      { ...replicaSet('4'), metadata: { annotations: { [revisionAnnotation]: '4' } } },
    ];
    const { found, asked } = await revisions('Deployment', items);
    assert.deepEqual(asked, ['/apis/apps/v1/namespaces/n/replicasets?labelSelector=a%3Db']);
    assert.deepEqual(
      found.map(({ number, cause, template }) => [number, cause, template]),
      [
        [9n, '<none>', plain('9')],
        [10n, 'tenth', plain('10')],
        [11n, '<none>', plain('11')],
      ],
    );
    assert.equal(found[1]?.item, items[0]);
  });
});

describe('revisions of other kinds', () => {
  const kept = (revision: unknown) => ({
    metadata: owner('u'),
    revision,
    data: { spec: { template: { $patch: 'replace', metadata: { labels: { a: 'b' } }, spec: spec('1') } } },
  });
  for (const kind of ['DaemonSet', 'StatefulSet'])
    it(`of a ${kind} are ControllerRevisions`, async () => {
      const { found, asked } = await revisions(kind, [kept(2), kept(1n), kept(undefined), kept('x')]);
      assert.deepEqual(asked, ['/apis/apps/v1/namespaces/n/controllerrevisions?labelSelector=a%3Db']);
      const template = { metadata: { labels: { a: 'b' } }, spec: spec('1') };
      assert.deepEqual(
        found.map(({ number, template: one }) => [number, one]),
        [
          [1n, template],
          [2n, template],
        ],
      );
    });

  it('are an error for a kind without revisions', async () => {
    await assert.rejects(revisions('Job', []), {
      message: 'no history viewer has been implemented for job.apps',
    });
  });
});

describe('a revision', () => {
  const revision = (number: bigint, more: Partial<Revision> = {}): Revision => ({
    number,
    cause: '<none>',
    template: plain(String(number)),
    item: replicaSet(String(number), 'u', 'why'),
    ...more,
  });
  const three = [revision(1n), revision(3n), revision(5n)];

  it('is found by its number; 0 means the revision before the newest', () => {
    assert.equal(chooseRevision(three, 1n).number, 1n);
    assert.equal(chooseRevision(three, 0n).number, 3n);
    assert.equal(findRevision(three, 5n)?.number, 5n);
    assert.equal(findRevision(three, 2n), undefined);
    assert.throws(() => chooseRevision(three, 2n), {
      message: 'unable to find specified revision 2 in history',
    });
    for (const few of [[], three.slice(0, 1)])
      assert.throws(() => chooseRevision(few, 0n), {
        message: 'no rollout history found: there is no earlier revision',
      });
  });

  it('is shown as its ReplicaSet, or as the workload with its template', () => {
    assert.deepEqual(revisionAsObject(workload('Deployment'), revision(1n)), {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      ...replicaSet('1', 'u', 'why'),
    });
    const set = workload('StatefulSet');
    assert.deepEqual(revisionAsObject(set, revision(1n)), {
      ...set,
      spec: { ...set.spec, template: plain('1') },
    });
  });

  it('is restored by its template; a Deployment also gets its annotations, except those of kubectl and the controller', () => {
    const value = plain('1');
    const ofTemplate = { op: 'replace', path: '/spec/template', value };
    assert.deepEqual(patchTo(workload('DaemonSet'), revision(1n)), [ofTemplate]);
    const kept = Object.fromEntries(
      [
        'kubectl.kubernetes.io/last-applied-configuration',
        revisionAnnotation,
        'deployment.kubernetes.io/revision-history',
        'deployment.kubernetes.io/desired-replicas',
        'deployment.kubernetes.io/max-replicas',
        'deprecated.deployment.rollback.to',
      ].map((name) => [name, 'now']),
    );
    const then = Object.fromEntries(Object.keys(kept).map((name) => [name, 'then']));
    const deployment = { ...workload('Deployment'), metadata: { annotations: { ...kept, own: 'x' } } };
    const item = { metadata: { annotations: { ...then, 'kubernetes.io/change-cause': 'why' } } };
    assert.deepEqual(patchTo(deployment, revision(1n, { item })), [
      ofTemplate,
      { op: 'add', path: '/metadata/annotations', value: { ...kept, 'kubernetes.io/change-cause': 'why' } },
    ]);
  });

  it('is compared by its template, without the label pod-template-hash', () => {
    const now = (metadata: object, image = '1') => ({ spec: { template: { metadata, spec: spec(image) } } });
    const own = { labels: { a: 'b', 'pod-template-hash': 'x' }, annotations: { c: 'd' } };
    assert.equal(isTemplateOf(now(own), revision(1n)), true);
    assert.equal(isTemplateOf(now(own, '2'), revision(1n)), false);
    assert.equal(isTemplateOf(now({ ...own, annotations: {} }), revision(1n)), false);
  });
});
