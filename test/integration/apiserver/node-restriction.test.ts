/** What a node says in what it may write, with the certificate of a node, over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { core, csrs, inDefault, merge, type NodeWorld, requestFor, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const make: NodeWorld['make'] = (...args) => world.make(...args);
before(async () => {
  world = await startNodeWorld();
});
after(() => world.stop());

describe('what a node says', () => {
  const node = `${core}/nodes/n1`;
  const status = `${inDefault}/pods/own/status`;
  const event = (over: object) => ({
    metadata: { name: 'said' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'own' },
    source: { host: 'n1' },
    ...over,
  });
  const about = (involvedObject: object) => event({ involvedObject });
  const rows: readonly (readonly [string, string, string, object, number])[] = [
    ['a label of its own', 'PATCH', node, { metadata: { labels: { disk: 'ssd' } } }, 200],
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
      'the same by its status',
      'PATCH',
      `${node}/status`,
      { metadata: { labels: { 'a.k8s.io/x': '' } } },
      403,
    ],
    ['an annotation', 'PATCH', node, { metadata: { annotations: { 'minik8s.io/overlay': 'vxlan' } } }, 200],
    [
      'an owner',
      'PATCH',
      node,
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'u' }] } },
      403,
    ],
    ['a finalizer', 'PATCH', node, { metadata: { finalizers: ['a.b/c'] } }, 403],
    [
      'its taints while it registers',
      'PATCH',
      node,
      { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
      200,
    ],
    ['its phase', 'PATCH', `${node}/status`, { status: { phase: 'Running' } }, 200],
    [
      'what it is',
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
    ['its taints later', 'PATCH', node, { spec: { taints: null } }, 403],
    ['whether it is schedulable', 'PATCH', node, { spec: { unschedulable: true } }, 403],
    ['its range', 'PATCH', node, { spec: { podCIDR: '10.244.7.0/24', podCIDRs: ['10.244.7.0/24'] } }, 200],
    [
      'its range to the others',
      'PATCH',
      node,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.7.0/24' } } },
      200,
    ],
    [
      'another range to the others',
      'PATCH',
      node,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.8.0/24' } } },
      403,
    ],
    [
      'another range by its status',
      'PATCH',
      `${node}/status`,
      { metadata: { annotations: { 'minik8s.io/pod-cidr': '10.244.8.0/24' } } },
      403,
    ],
    ['how its pod is', 'PATCH', status, { status: { phase: 'Running' } }, 200],
    ['labels of its pod', 'PATCH', status, { metadata: { labels: { a: 'b' } } }, 403],
    ['annotations of its pod', 'PATCH', status, { metadata: { annotations: { a: 'b' } } }, 403],
    ['an event about its pod', 'POST', `${inDefault}/events?dryRun=All`, event({}), 201],
    [
      'an event about itself',
      'POST',
      `${inDefault}/events?dryRun=All`,
      about({ kind: 'Node', name: 'n1' }),
      201,
    ],
    [
      'an event about another pod',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Pod', namespace: 'default', name: 'other' }),
      403,
    ],
    ['an event about another node', 'POST', `${inDefault}/events`, about({ kind: 'Node', name: 'n2' }), 403],
    [
      'an event about a Service',
      'POST',
      `${inDefault}/events`,
      about({ kind: 'Service', namespace: 'default', name: 'own' }),
      403,
    ],
    ['an event in another’s name', 'POST', `${inDefault}/events`, event({ source: { host: 'n2' } }), 403],
    ['an event in nobody’s name', 'POST', `${inDefault}/events`, event({ source: {} }), 403],
  ];
  for (const [what, method, path, body, code] of rows) {
    it(`of ${what} is ${code < 300 ? 'taken' : 'refused'}`, async () => {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, code, answer.text);
    });
  }

  it('of its phase counts for nothing: whether it is in, a person says', async () => {
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
