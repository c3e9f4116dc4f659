/** Contents that a node may write, with a node's certificate, over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { nodeRestriction } from '../../../src/kube-apiserver/admission/node-restriction.ts';
import type { KubeContext } from '../../../src/kube-apiserver/context.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { core, csrs, inDefault, merge, type NodeWorld, requestFor, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const make: NodeWorld['make'] = (...args) => world.make(...args);
before(async () => {
  world = await startNodeWorld();
});
after(() => world.stop());

describe('a write of a node', () => {
  const node = `${core}/nodes/n1`;
  const status = `${inDefault}/pods/own/status`;
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1';
  const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid: 'u' });
  const taint = (key: string) => ({ key, effect: 'NoSchedule' });
  const rows: readonly (readonly [string, string, string, object, number])[] = [
    ['an ordinary label', 'PATCH', node, { metadata: { labels: { disk: 'ssd' } } }, 200],
    ['its zone', 'PATCH', node, { metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } } }, 200],
    ['its role', 'PATCH', node, { metadata: { labels: { 'node-role.kubernetes.io/x': '' } } }, 403],
    [
      'a restriction',
      'PATCH',
      node,
      { metadata: { labels: { 'node-restriction.kubernetes.io/x': '' } } },
      403,
    ],
    [
      'an ordinary label through the status',
      'PATCH',
      `${node}/status`,
      { metadata: { labels: { 'a.k8s.io/x': '' } } },
      403,
    ],
    [
      'the host name of another node',
      'PATCH',
      node,
      { metadata: { labels: { 'kubernetes.io/hostname': 'n2' } } },
      403,
    ],
    [
      'its own host name',
      'PATCH',
      `${node}/status`,
      { metadata: { labels: { 'kubernetes.io/hostname': 'n1' } } },
      200,
    ],
    ['an annotation', 'PATCH', node, { metadata: { annotations: { 'minik8s.io/overlay': 'vxlan' } } }, 200],
    [
      'an owner',
      'PATCH',
      node,
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'u' }] } },
      403,
    ],
    [
      'a Node above the maximum size',
      'PATCH',
      `${node}/status`,
      { status: { images: [{ names: ['x'.repeat(300_000)] }] } },
      403,
    ],
    [
      'a Node above the maximum size in few characters',
      'PATCH',
      `${node}/status`,
      { status: { images: [{ names: ['€'.repeat(100_000)] }] } },
      403,
    ],
    ['a finalizer', 'PATCH', node, { metadata: { finalizers: ['a.b/c'] } }, 403],
    ['a taint while it registers', 'PATCH', node, { spec: { taints: [taint('a')] } }, 200],
    ['another taint in its place', 'PATCH', node, { spec: { taints: [taint('b')] } }, 403],
    ['no taint while it registers', 'PATCH', node, { spec: { taints: null } }, 403],
    ['two taints while it registers', 'PATCH', node, { spec: { taints: [taint('a'), taint('b')] } }, 200],
    ['one of two taints removed', 'PATCH', node, { spec: { taints: [taint('a')] } }, 403],
    ['the other of two taints removed', 'PATCH', node, { spec: { taints: [taint('b')] } }, 403],
    [
      'one of two taints changed',
      'PATCH',
      node,
      { spec: { taints: [taint('a'), { ...taint('b'), effect: 'NoExecute' }] } },
      403,
    ],
    ['a cordon while it registers', 'PATCH', node, { spec: { unschedulable: true } }, 403],
    [
      'its address',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] } },
      200,
    ],
    [
      'a host name',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'Hostname', address: 'n1.example' }] } },
      200,
    ],
    [
      'the name of another node',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'Hostname', address: 'n2' }] } },
      403,
    ],
    [
      'a name as an address',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'InternalIP', address: 'kubernetes.default' }] } },
      422,
    ],
    [
      'a wildcard',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'Hostname', address: '*.default' }] } },
      422,
    ],
    [
      'an address of an unknown type',
      'PATCH',
      `${node}/status`,
      { status: { addresses: [{ type: 'Alias', address: 'n1' }] } },
      422,
    ],
    [
      'an invalid port',
      'PATCH',
      `${node}/status`,
      { status: { daemonEndpoints: { kubeletEndpoint: { Port: 70_000 } } } },
      422,
    ],
    ['its phase', 'PATCH', `${node}/status`, { status: { phase: 'Running' } }, 200],
    [
      'the information about its machine',
      'PATCH',
      `${node}/status`,
      {
        status: {
          nodeInfo: {
            machineID: 'm',
            systemUUID: 'u',
            bootID: 'b',
            kernelVersion: 'k',
            osImage: 'o',
            containerRuntimeVersion: 'c',
            kubeletVersion: 'v',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
            architecture: 'amd64',
          },
        },
      },
      200,
    ],
    ['changed taints later', 'PATCH', node, { spec: { taints: null } }, 403],
    ['fewer taints later', 'PATCH', node, { spec: { taints: [taint('a')] } }, 403],
    ['more taints later', 'PATCH', node, { spec: { taints: [taint('a'), taint('b'), taint('c')] } }, 403],
    ['removed conditions', 'PATCH', `${node}/status`, { status: { nodeInfo: null } }, 403],
    ['an empty status', 'PATCH', `${node}/status`, { status: null }, 403],
    ['all addresses as its range', 'PATCH', node, { spec: { podCIDR: '0.0.0.0/0' } }, 403],
    ['the range of all pods', 'PATCH', node, { spec: { podCIDR: '10.244.0.0/16' } }, 403],
    ['a range of Services', 'PATCH', node, { spec: { podCIDR: '10.96.7.0/24' } }, 403],
    ['the range of another node', 'PATCH', node, { spec: { podCIDR: '10.244.2.128/25' } }, 403],
    ['two ranges', 'PATCH', node, { spec: { podCIDRs: ['10.244.7.0/24', 'fd00::/64'] } }, 403],
    ['a range of another address family', 'PATCH', node, { spec: { podCIDR: 'fd00::/64' } }, 403],
    ['its cordon', 'PATCH', node, { spec: { unschedulable: true } }, 403],
    ['its range', 'PATCH', node, { spec: { podCIDR: '10.244.7.0/24', podCIDRs: ['10.244.7.0/24'] } }, 200],
    [
      'the annotation of its range',
      'PATCH',
      node,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.7.0/24' } } },
      200,
    ],
    [
      'the annotation of another range',
      'PATCH',
      node,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.8.0/24' } } },
      403,
    ],
    [
      'the annotation of another range through the status',
      'PATCH',
      `${node}/status`,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.8.0/24' } } },
      403,
    ],
    ['the status of its pod', 'PATCH', status, { status: { phase: 'Running' } }, 200],
    ['labels of its pod', 'PATCH', status, { metadata: { labels: { a: 'b' } } }, 403],
    ['annotations of its pod', 'PATCH', status, { metadata: { annotations: { a: 'b' } } }, 403],
    ['an owner of its lease', 'PATCH', lease, { metadata: { ownerReferences: [owner('n2')] } }, 403],
    [
      'an owner of its lease that is a Node of another group',
      'PATCH',
      lease,
      { metadata: { ownerReferences: [{ ...owner('n1'), apiVersion: 'example.com/v1' }] } },
      403,
    ],
    [
      'its Node as the owner of its lease',
      'PATCH',
      lease,
      { metadata: { ownerReferences: [owner('n1')] } },
      200,
    ],
    ['a finalizer of its lease', 'PATCH', lease, { metadata: { finalizers: ['a.b/c'] } }, 403],
    ['a finalizer of its pod', 'PATCH', status, { metadata: { finalizers: ['a.b/c'] } }, 403],
  ];
  for (const [what, method, path, body, code] of rows) {
    it(`of ${what} is ${code < 300 ? 'accepted' : 'rejected'}`, async () => {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, code, answer.text);
    });
  }

  it('of the Lease of an address may only set the node itself as the holder', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const one = `${leases}/load-balancer.192.0.2.240`;
    const metadata = {
      name: 'load-balancer.192.0.2.240',
      namespace: 'kube-system',
      labels: { 'minik8s.io/load-balancer-address': '192.0.2.240' },
      annotations: { 'minik8s.io/load-balancer-service': 'default/web' },
    };
    const body = (holder?: string, more: object = {}) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...metadata, ...more },
      spec: { leaseDurationSeconds: 2, ...(holder && { holderIdentity: holder }) },
    });
    const put = async (object: ReturnType<typeof body>) => {
      const stored = (await world.server.call('GET', one)).json<KubeObject>();
      const { resourceVersion } = stored.metadata;
      return (await ask('PUT', one, { ...object, metadata: { ...object.metadata, resourceVersion } })).status;
    };
    assert.equal(await put(body('n1')), 403, 'no node creates one');
    await world.make(leases, body('n2'));
    assert.equal(await put(body()), 403, 'the holder is another node');
    assert.equal(await put(body('n3')), 403, 'another holder');
    assert.equal(await put(body('n1', { annotations: {} })), 403, 'another Service');
    assert.equal(await put(body('n1')), 200, 'itself');
    assert.equal(await put(body()), 200, 'releases it');
    assert.equal((await ask('DELETE', one)).status, 403);
    assert.equal(
      (await ask('GET', `${leases}?labelSelector=minik8s.io%2Fload-balancer-address`)).status,
      200,
    );
    assert.equal((await ask('GET', leases)).status, 403, 'other Leases of kube-system');
    assert.equal((await ask('GET', `${leases}/minik8s-controllers`)).status, 403);
  });

  it('of the owner of its pod is ignored', async () => {
    const said = await ask('PATCH', status, { metadata: { ownerReferences: [owner('n1')] } });
    assert.equal(said.status, 200, said.text);
    const pod = (await world.server.call('GET', `${inDefault}/pods/own`)).json();
    assert.equal(pod.metadata.ownerReferences, undefined);
  });

  it('of the host name of another node is rejected in every form of write', async () => {
    const user = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
    const label = 'kubernetes.io/hostname';
    const whole = (await world.server.call('GET', node)).json<KubeObject>();
    const labelled = (value: string) => ({ metadata: { labels: { [label]: value } } });
    const apply = { apiVersion: 'v1', kind: 'Node', ...labelled('n2') };
    const replaced = [{ op: 'add', path: '/metadata/labels/kubernetes.io~1hostname', value: 'n2' }];
    const moved = [
      { op: 'add', path: '/metadata/labels/x', value: 'n2' },
      { op: 'move', from: '/metadata/labels/x', path: '/metadata/labels/kubernetes.io~1hostname' },
    ];
    const strategic = { metadata: { labels: { $patch: 'replace', [label]: 'n2' } } };
    const { resourceVersion: _, ...metadata } = whole.metadata;
    const put = { ...whole, metadata: { ...metadata, labels: { ...metadata.labels, [label]: 'n2' } } };
    const ways: readonly (readonly [string, string, object, string])[] = [
      ['PATCH', '', replaced, 'application/json-patch+json'],
      ['PATCH', '', moved, 'application/json-patch+json'],
      ['PATCH', '', strategic, 'application/strategic-merge-patch+json'],
      [
        'PATCH',
        '?fieldManager=x&force=true',
        { ...apply, metadata: { ...apply.metadata, name: 'n1' } },
        'application/apply-patch+yaml',
      ],
      ['PUT', '', put, 'application/json'],
      ['PUT', '/status', put, 'application/json'],
      ...['N1', 'n1.', '', 'n1.example'].map((value) => ['PATCH', '', labelled(value), merge] as const),
    ];
    for (const [method, more, body, type] of ways) {
      const answer = await world.server.call(method, `${node}${more}`, body, {
        user,
        headers: { 'content-type': type },
      });
      const what = `${method} ${more} ${type} ${JSON.stringify(body).slice(0, 80)}: ${answer.text}`;
      assert.ok(answer.status === 403 || answer.status === 422, what);
    }
    const { metadata: after } = (await world.server.call('GET', node)).json<KubeObject>();
    assert.equal(after.labels?.[label] ?? 'n1', 'n1');
  });
  it('that changes or removes a label of an administrator is rejected', async () => {
    const label = (value: string | null) => ({
      metadata: { labels: { 'node-restriction.kubernetes.io/kept': value } },
    });
    const given = await world.server.call('PATCH', node, label('x'), { headers: { 'content-type': merge } });
    assert.equal(given.status, 200, given.text);
    for (const value of [null, 'y']) {
      const answer = await ask('PATCH', node, label(value));
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.text, /the label node-restriction\.kubernetes\.io\/kept/);
    }
    assert.equal((await ask('PATCH', node, label('x'))).status, 200);
  });

  it('that creates its own Node is accepted only if nodes may register, or an administrator has added it', async () => {
    const server = await startTestServer({ mayRegister: (name) => name === 'own' });
    const register = (name: string) => {
      const user = { name: `system:node:${name}`, groups: ['system:nodes'] };
      return server.call('POST', `${core}/nodes`, { metadata: { name } }, { user });
    };
    assert.equal((await register('own')).status, 201);
    const refused = await register('n1');
    assert.equal(refused.status, 403);
    assert.match(
      refused.text,
      /nodes need the approval of an administrator here: run minik8s ctl add node n1/,
    );
    assert.equal((await server.call('POST', `${core}/nodes`, { metadata: { name: 'n1' } })).status, 201);
    assert.equal((await register('n1')).status, 409);
    await server.stop();
  });

  it('about a pod is checked against the stored pod, not an earlier pod with its name', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { nodeName: 'n2' } };
    for (const [operation, subresource] of [
      ['delete', ''],
      ['update', 'status'],
    ] as const) {
      const admission = {
        operation,
        subresource,
        definition: podResource as ResourceDefinition,
        namespace: 'default',
        name: 'web',
        user: { name: 'system:node:n1', groups: ['system:nodes'] },
        old: pod as unknown as KubeObject,
        ...(operation === 'update' && { object: pod as unknown as KubeObject }),
      };
      const refusal = /node "n1" may only change pods that are bound to it/;
      await assert.rejects(async () => nodeRestriction({} as KubeContext, []).validate?.(admission), refusal);
      const { user } = { user: { name: 'system:node:n2', groups: ['system:nodes'] } };
      await nodeRestriction({} as KubeContext, []).validate?.({ ...admission, user });
    }
  });

  it('of its phase is ignored: an administrator decides whether it is admitted', async () => {
    const stored = (await world.server.call('GET', node)).json<{ status?: { phase?: string } }>();
    assert.equal(stored.status?.phase, undefined);
    const pending = { metadata: { name: 'n3' }, status: { phase: 'Pending' } };
    await make(`${core}/nodes`, pending);
    const user = { name: 'system:node:n3', groups: ['system:nodes'] };
    const said = await world.server.call(
      'PATCH',
      `${core}/nodes/n3/status`,
      { status: { phase: null } },
      {
        user,
        headers: { 'content-type': merge },
      },
    );
    assert.equal(said.status, 200);
    assert.equal(said.json<{ status: { phase?: string } }>().status.phase, 'Pending');
  });

  it('in a request for another node’s certificate is refused', async () => {
    const answer = await ask('POST', csrs, { metadata: { name: 'foreign' }, spec: await requestFor('n2') });
    assert.equal(answer.status, 403);
    assert.match(answer.text, /can only create a node CSR with CN=system:node:n1/);
    const spec = { ...(await requestFor('n1')), signerName: 'kubernetes.io/kube-apiserver-client' };
    assert.equal((await ask('POST', csrs, { metadata: { name: 'client' }, spec })).status, 403);
  });
});
