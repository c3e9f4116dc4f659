/**
 * Writes of a node to objects that it may address: each rejection by its reason, and the writes that are
 * allowed.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Lease, leaseResource } from '../../../../src/api/coordination/v1/lease.ts';
import { eventResource } from '../../../../src/api/core/v1/event/event.ts';
import { type Node, nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { admissionChain } from '../../../../src/apiserver/admission/admission.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import { nodeRestriction } from '../../../../src/kube-apiserver/admission/node-restriction.ts';
import type { KubeContext } from '../../../../src/kube-apiserver/context.ts';
import { merge } from '../../../fixtures/kinds.ts';

const user = { name: 'system:node:n1', groups: ['system:nodes'] };
const named = (name: string) => ({ metadata: { name } });

interface World {
  readonly mayRegister?: boolean;
  /** Names of the existing Nodes. */
  readonly nodes?: readonly string[];
  readonly stored?: readonly string[];
}
/** Server that rejects every claim of a range, with the Nodes that the range was compared with. */
const serverOf = ({ mayRegister = true, nodes = ['n1', 'n2'], stored = [] }: World) =>
  ({
    mayRegister: () => mayRegister,
    podRangeProblem: (_: Node, others: readonly Node[]) =>
      `taken by ${others.map(({ metadata }) => metadata.name)}`,
    cache: {
      list: (prefix: string) =>
        prefix === '/registry/nodes/' ? nodes.map((name) => ({ object: named(name) })) : [],
      get: (key: string) =>
        nodes.map((name) => `/registry/nodes/${name}`).includes(key) && { object: named('x') },
    },
    store: {
      get: async (key: string) =>
        stored.map((name) => `/registry/nodes/${name}`).includes(key) ? {} : undefined,
    },
  }) as unknown as KubeContext;

/** Returns the reason of the rejection; '' when the write is accepted. */
async function refusal(
  definition: unknown,
  old: unknown,
  change: unknown,
  over: Partial<Admission> = {},
  world: World = {},
): Promise<string> {
  const object = change === undefined ? undefined : (merge(old ?? {}, change) as KubeObject);
  const admission: Admission = {
    operation: old === undefined ? 'create' : object === undefined ? 'delete' : 'update',
    definition: definition as ResourceDefinition,
    ...{ namespace: '', name: object?.metadata.name ?? 'n1', subresource: '', user },
    ...(old !== undefined && { old: structuredClone(old) as KubeObject }),
    ...(object && { object }),
    ...over,
  };
  try {
    const chain = admissionChain([nodeRestriction(serverOf(world), [])]);
    await chain.mutate(admission);
    await chain.validate(admission);
    return '';
  } catch (error) {
    assert.ok(error instanceof StatusError && error.status.code === 403, String(error));
    return error.message.replace(/^.*? is forbidden: /, '');
  }
}
const modify = (what: string) => `node "n1" is not allowed to modify ${what}`;
const owner = (name: string, over: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid: 'u',
  ...over,
});

describe('a Node', () => {
  const cidr = 'minik8s.io/pod-cidr';
  const node = (over: object = {}): unknown =>
    merge({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} }, over);
  const registered = node({
    status: { nodeInfo: { machineID: 'm' } },
    spec: { taints: [{ key: 'a' }, { key: 'b' }] },
  });
  const ranged = node({ spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] } });
  const notes = (value: string | null) => ({ metadata: { annotations: { [cidr]: value } } });

  for (const [title, old, change, why] of [
    ['without a change', node(), {}, ''],
    ['with an ordinary label', node(), { metadata: { labels: { disk: 'ssd' } } }, ''],
    [
      'with a role',
      node(),
      { metadata: { labels: { disk: 'ssd', 'node-role.kubernetes.io/x': '' } } },
      modify('the label node-role.kubernetes.io/x'),
    ],
    [
      'without its role',
      node({ metadata: { labels: { 'node-role.kubernetes.io/x': '' } } }),
      { metadata: { labels: null } },
      modify('the label node-role.kubernetes.io/x'),
    ],
    ['with a finalizer', node(), { metadata: { finalizers: ['a/b'] } }, modify('finalizers')],
    [
      'without its finalizer',
      node({ metadata: { finalizers: ['a/b'] } }),
      { metadata: { finalizers: null } },
      modify('finalizers'),
    ],
    ['with an empty list of finalizers', node(), { metadata: { finalizers: [] } }, ''],
    [
      'with its existing finalizer',
      node({ metadata: { finalizers: ['a/b'] } }),
      { metadata: { labels: { a: 'b' } } },
      '',
    ],
    ['with an owner', node(), { metadata: { ownerReferences: [owner('n1')] } }, modify('ownerReferences')],
    [
      'with taints for the first time, in another order',
      node({ spec: { taints: [{ key: 'a' }] } }),
      { spec: { taints: [{ key: 'b' }, { key: 'a' }] } },
      '',
    ],
    [
      'without a taint',
      node({ spec: { taints: [{ key: 'a' }] } }),
      { spec: { taints: [{ key: 'b' }] } },
      modify('taints'),
    ],
    ['without any taint', registered, { spec: { taints: null } }, modify('taints')],
    [
      'with its first taint removed',
      node({ spec: { taints: [{ key: 'a' }] } }),
      { spec: { taints: null } },
      modify('taints'),
    ],
    [
      'with a taint added later',
      registered,
      { spec: { taints: [{ key: 'a' }, { key: 'b' }, { key: 'c' }] } },
      modify('taints'),
    ],
    ['with a taint removed later', registered, { spec: { taints: [{ key: 'a' }] } }, modify('taints')],
    ['without nodeInfo', registered, { status: { nodeInfo: null } }, modify('status.nodeInfo to nothing')],
    ['with a cordon', node(), { spec: { unschedulable: true } }, modify('its specification')],
    ['with its host name', node(), { status: { addresses: [{ type: 'Hostname', address: 'n1' }] } }, ''],
    [
      'with an unused host name',
      node(),
      { status: { addresses: [{ type: 'Hostname', address: 'n9' }] } },
      '',
    ],
    [
      'with the host name of another node',
      node(),
      {
        status: {
          addresses: [
            { type: 'Hostname', address: 'n1' },
            { type: 'InternalDNS', address: 'n2' },
          ],
        },
      },
      modify('its addresses to n2, the name of another node'),
    ],
    ['with a range', node(), { spec: { podCIDR: '10.244.1.0/24' } }, 'taken by n2'],
    ['with ranges', node(), { spec: { podCIDRs: ['10.244.1.0/24'] } }, 'taken by n2'],
    ['with its existing range', ranged, { metadata: { labels: { a: 'b' } } }, ''],
    [
      'with its existing range in podCIDRs',
      node({ spec: { podCIDR: 'r' } }),
      { spec: { podCIDRs: ['r'] } },
      '',
    ],
    ['with the annotation of its range', ranged, notes('10.244.1.0/24'), ''],
    [
      'with the annotation of another range',
      ranged,
      notes('10.244.2.0/24'),
      modify(`the annotation ${cidr} to anything but its podCIDR`),
    ],
    [
      'with an unchanged annotation of another range',
      node(notes('old')),
      { metadata: { labels: { a: 'b' } } },
      '',
    ],
    ['with the annotation of its range removed', merge(ranged, notes('10.244.1.0/24')), notes(null), ''],
    [
      'with its existing role',
      node({ metadata: { labels: { 'node-role.kubernetes.io/x': '' } } }),
      { metadata: { labels: { a: 'b' } } },
      '',
    ],
    ['without the annotation of its range', ranged, { metadata: { annotations: { x: 'y' } } }, ''],
  ] as const)
    test(`${title} is ${why === '' ? 'accepted' : 'rejected'}`, async () => {
      assert.equal(await refusal(nodeResource, old, change), why);
    });

  test('must be its own at its creation, and only if nodes may register or an administrator has approved it', async () => {
    assert.equal(await refusal(nodeResource, undefined, node()), '');
    const other = node({ metadata: { name: 'n2' } });
    assert.equal(await refusal(nodeResource, undefined, other), 'node "n1" is not allowed to create it');
    const approval = /^nodes need the approval of an administrator here: run minik8s ctl add node n1$/;
    assert.match(await refusal(nodeResource, undefined, node(), {}, { mayRegister: false }), approval);
    assert.equal(await refusal(nodeResource, node(), undefined), '', 'whether it may go others decide');
    assert.equal(
      await refusal(nodeResource, undefined, node(), {}, { mayRegister: false, stored: ['n1'] }),
      '',
    );
    assert.match(
      await refusal(nodeResource, undefined, node(), {}, { mayRegister: false, stored: ['n2'] }),
      approval,
    );
    assert.equal(await refusal(nodeResource, undefined, node({ spec: { podCIDR: 'r' } })), 'taken by n2');
    assert.equal(
      await refusal(nodeResource, undefined, node(notes('r'))),
      modify(`the annotation ${cidr} to anything but its podCIDR`),
    );
  });

  test('keeps its phase and the rest of its status, even if the node sends other values', async () => {
    const written = async (old: unknown, change: unknown) => {
      const object = merge(old, change) as Node;
      assert.equal(await refusal(nodeResource, old, {}, { object }), '');
      return object.status;
    };
    const pending = node({ status: { phase: 'Pending' } });
    const images = [{ names: ['i'] }];
    assert.deepEqual(await written(pending, { status: { phase: 'Running', images } }), {
      phase: 'Pending',
      images,
    });
    assert.deepEqual(await written(pending, { status: null }), { phase: 'Pending' });
    assert.deepEqual(await written(node(), { status: { phase: 'Running', images } }), { images });
    assert.equal(await written(node(), {}), undefined);
  });

  test('may have at most 256 KiB', async () => {
    const sized = (bytes: number) => {
      const object = node({ metadata: { annotations: { a: '' } } }) as Node;
      const rest = Buffer.byteLength(JSON.stringify(object));
      object.metadata.annotations = { a: 'x'.repeat(bytes - rest) };
      return object;
    };
    assert.equal(await refusal(nodeResource, node(), sized(256 * 1024)), '');
    assert.match(
      await refusal(nodeResource, node(), sized(256 * 1024 + 1)),
      /^it has 262145 bytes; a Node that a node writes may have at most 262144$/,
    );
  });
});

describe('a Lease', () => {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'n1' }, spec: {} };
  const owned = (...owners: object[]) => ({ metadata: { ownerReferences: owners } });
  for (const [title, change, why] of [
    ['without a change', {}, ''],
    ['of its Node', owned(owner('n1')), ''],
    ['of nobody', owned(), ''],
    ['of another Node', owned(owner('n2')), modify('ownerReferences')],
    ['of its Node and another Node', owned(owner('n1'), owner('n2')), modify('ownerReferences')],
    ['of a Node of another group', owned(owner('n1', { apiVersion: 'x/v1' })), modify('ownerReferences')],
    ['of a Pod with the name of the Node', owned(owner('n1', { kind: 'Pod' })), modify('ownerReferences')],
    ['with a finalizer', { metadata: { finalizers: ['a/b'] } }, modify('finalizers')],
  ] as const)
    test(`${title} is ${why === '' ? 'accepted' : 'rejected'}`, async () => {
      assert.equal(await refusal(leaseResource, lease, change), why);
      assert.equal(await refusal(leaseResource, undefined, merge(lease, change)), why);
    });

  test('must be its own when it is created, and may be removed', async () => {
    const other = merge(lease, { metadata: { name: 'n2' } });
    assert.equal(await refusal(leaseResource, undefined, other), 'node "n1" is not allowed to create it');
    assert.equal(await refusal(leaseResource, lease, undefined), '');
  });

  test('may have at most 4 KiB', async () => {
    const sized = (bytes: number) => {
      const rest = Buffer.byteLength(JSON.stringify(lease)) - 2;
      const spec = { holderIdentity: 'x'.repeat(bytes - rest - Buffer.byteLength('{"holderIdentity":""}')) };
      return { ...lease, spec } as unknown as Lease;
    };
    assert.equal(await refusal(leaseResource, lease, sized(4096)), '');
    assert.match(
      await refusal(leaseResource, lease, sized(4097)),
      /^it has 4097 bytes; a Lease .* at most 4096$/,
    );
  });
});

describe('a pod', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels: { a: 'b' } },
    spec: { nodeName: 'n1' },
  };
  const status = { subresource: 'status' } as const;
  const labels = { metadata: { labels: { a: 'c' } } };
  const foreign = 'node "n1" may only change pods that are bound to it';
  for (const [title, old, change, over, why] of [
    ['its status', pod, { status: { phase: 'Running' } }, status, ''],
    ['its labels', pod, labels, status, 'node "n1" cannot update labels through pod status'],
    [
      'a status that removes its labels',
      pod,
      { metadata: { labels: null } },
      status,
      'node "n1" cannot update labels through pod status',
    ],
    [
      'a status without labels, if the pod has none',
      merge(pod, { metadata: { labels: null } }),
      { metadata: { labels: {} } },
      status,
      '',
    ],
    [
      'its annotations',
      pod,
      { metadata: { annotations: { a: 'b' } } },
      status,
      'node "n1" cannot update annotations through pod status',
    ],
    ['its labels by the main resource, which another check decides on', pod, labels, {}, ''],
    ['its end', pod, undefined, {}, ''],
    ['its deletion through the status', pod, undefined, status, ''],
    ['the status of a pod of another node', merge(pod, { spec: { nodeName: 'n2' } }), {}, status, foreign],
    [
      'the deletion of a pod without a node',
      merge(pod, { spec: { nodeName: null } }),
      undefined,
      {},
      foreign,
    ],
    [
      "a pod of another node with the node's name",
      merge(pod, { spec: { nodeName: 'n2' } }),
      { spec: { nodeName: 'n1' } },
      status,
      foreign,
    ],
    [
      'a new one',
      undefined,
      pod,
      {},
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ],
  ] as const)
    test(`is written by its node only within its rights: ${title} is ${why ? `rejected: ${why}` : 'accepted'}`, async () => {
      assert.equal(await refusal(podResource, old, change, over), why);
    });
});

test('a node may only write events of its own', async () => {
  const event = {
    metadata: { name: 'e' },
    involvedObject: { kind: 'Node', name: 'n1' },
    source: { host: 'n1' },
  };
  assert.equal(await refusal(eventResource, undefined, event), '');
  const other = merge(event, { source: { host: 'n2' } });
  assert.equal(await refusal(eventResource, undefined, other), 'node "n1" is not the source of this event');
});

test('this plugin does not restrict other kinds and other users', async () => {
  const config = { group: '', plural: 'configmaps', kind: 'ConfigMap' };
  assert.equal(await refusal(config, undefined, named('c')), '');
  assert.equal(
    await refusal(config, undefined, { metadata: { name: 'c', finalizers: ['a/b'] } }),
    modify('finalizers'),
  );
  const admin = { user: { name: 'system:node:n1', groups: [] } };
  assert.equal(await refusal(nodeResource, undefined, named('n2'), admin), '');
});
