import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/api/core/v1/node/node.ts';
import type { Dns } from '../../../../../src/features/host-names/api/dns.ts';
import { servingFingerprint } from '../../../../../src/features/host-names/api/dns-served.ts';
import { planDnsStatus } from '../../../../../src/features/host-names/controller/dns-plan.ts';
import { makeService } from '../../../cluster-dns/objects.ts';
import { node as makeNode } from '../../../controllers/objects.ts';
import { makeDns } from '../agent/objects.ts';

const now = '2026-11-20T10:00:00Z';
const later = '2026-11-20T11:00:00Z';
const services = [
  makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] }),
  makeService('udp', { clusterIP: '10.96.0.21', ports: [{ protocol: 'UDP', port: 80 }] }),
  makeService('db', { clusterIP: 'None', ports: [{ protocol: 'TCP', port: 80 }] }),
  makeService('far', { type: 'ExternalName', externalName: 'x.example' }),
];
const find = (name: string) => services.find(({ metadata }) => metadata.name === name);
/** Node with its condition DnsServed as `Status Reason: message`; '' for a node without the condition. */
function node(name: string, ready: 'True' | 'False' | 'Unknown', served: string): Node {
  const made = makeNode(name, { ready });
  const [, status, reason = '', message = ''] = /^(\S+) ([^:]+)(?:: (.*))?$/.exec(served) ?? [];
  if (status !== 'True' && status !== 'False') return made;
  const conditions = [
    ...(made.status?.conditions ?? []),
    { type: 'DnsServed', status, reason, message } as const,
  ];
  return { ...made, status: { ...made.status, conditions } };
}
const serving = [node('n1', 'True', 'True Serving')];
const plan = (
  dns: Dns,
  time = now,
  nodes: readonly Node[] = serving,
  holder = 'shop',
  isWithinLimit = true,
) =>
  planDnsStatus(dns, {
    serviceOf: find,
    clusterDomain: 'cluster.local',
    holder,
    isWithinLimit,
    nodes,
    now: time,
  });

it("only a node's report about Dns objects counts as a change of the node", () => {
  const print = (...said: Parameters<typeof node>) => servingFingerprint(node(...said));
  const said = print('n1', 'True', 'False PortTaken: port 80 is taken');
  assert.equal(print('n2', 'True', 'False PortTaken: port 80 is taken'), said);
  for (const other of [
    print('n1', 'Unknown', 'False PortTaken: port 80 is taken'),
    print('n1', 'True', 'True PortTaken: port 80 is taken'),
    print('n1', 'True', 'False RoutingFailed: port 80 is taken'),
    print('n1', 'True', 'False PortTaken: port 80 is taken by nginx'),
    print('n1', 'True', ''),
  ])
    assert.notEqual(other, said);
});

describe('the status of a Dns', () => {
  it('is ready when every path leads to a Service, and is not written again', () => {
    const dns = makeDns('one', 'a.example', ['/=web:80']);
    const { status, changed, problem } = plan(dns);
    assert.deepEqual(status, {
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Routed',
          message: 'every path leads to a Service, and every node serves it',
          lastTransitionTime: now,
        },
      ],
    });
    assert.deepEqual([changed, problem], [true, undefined]);
    assert.equal(plan({ ...dns, status }, later).changed, false);
  });

  for (const [path, reason, message] of [
    ['/=none:80', 'ServiceNotFound', 'path /: service "none" not found'],
    ['/=web:81', 'PortNotFound', 'path /: service "web" has no TCP port 81'],
    ['/=udp:80', 'PortNotFound', 'path /: service "udp" has no TCP port 80'],
    ['/=db:80', 'NoClusterIP', 'path /: service "db" has no cluster IP'],
    ['/=far:80', 'NoClusterIP', 'path /: service "far" has no cluster IP'],
  ] as const) {
    it(`has the reason ${reason} for ${path}`, () => {
      const { status, problem } = plan(makeDns('one', 'a.example', [path]));
      assert.deepEqual(problem, { reason, message });
      assert.deepEqual(
        status.conditions?.map((condition) => [condition.status, condition.reason, condition.message]),
        [['False', reason, message]],
      );
    });
  }

  it('rejects a name of the cluster', () => {
    for (const host of ['cluster.local', 'kubernetes.default.svc.cluster.local']) {
      const { problem } = plan(makeDns('one', host, ['/=none:80']));
      assert.equal(problem?.reason, 'HostNotAllowed');
      assert.match(problem?.message ?? '', /does not resolve.*; path \/: service "none" not found/);
    }
    assert.equal(plan(makeDns('one', 'mycluster.local', ['/=web:80'])).problem, undefined);
  });

  it('names the namespace to which the host belongs, if it is another namespace', () => {
    const { status, problem } = plan(makeDns('one', 'a.example', ['/=web:80']), now, serving, 'first');
    const message =
      'host a.example is not served for this object: it belongs to the namespace first, which has the oldest Dns for it';
    assert.deepEqual(problem, { reason: 'HostTaken', message });
    assert.equal(status.conditions?.[0]?.status, 'False');
  });

  it('reports that the namespace has more paths than are served', () => {
    const { problem } = plan(makeDns('one', 'a.example', ['/=web:80']), now, serving, 'shop', false);
    const message = 'the namespace has more than 1000 paths of Dns objects: only the oldest are served';
    assert.deepEqual(problem, { reason: 'TooManyPaths', message });
  });

  it('reports a problem once, and again when it changes', () => {
    const dns = makeDns('one', 'a.example', ['/=none:80', '/b=web:80']);
    const first = plan(dns);
    const again = plan({ ...dns, status: first.status }, later);
    assert.deepEqual([again.changed, again.problem], [false, undefined]);
    const worse = { ...makeDns('one', 'a.example', ['/=none:80', '/b=web:81']), status: first.status };
    const second = plan(worse, later);
    assert.equal(
      second.problem?.message,
      'path /: service "none" not found; path /b: service "web" has no TCP port 81',
    );
    assert.equal(second.status.conditions?.[0]?.lastTransitionTime, now);
  });

  const taken = 'False PortTaken: port 80 of this node is taken';
  const nodesSay: readonly (readonly [string, readonly Node[], string, string, boolean])[] = [
    ['there is no node', [], 'NoNodes', 'no node is ready to serve Dns objects', true],
    [
      'no node is ready',
      [node('n1', 'Unknown', 'True Serving')],
      'NoNodes',
      'no node is ready to serve Dns objects',
      true,
    ],
    [
      'one node has not reported yet',
      [node('n1', 'True', ''), ...serving],
      'NotServedYet',
      '1 of 2 nodes do not serve Dns objects: n1: not yet',
      false,
    ],
    [
      'one node cannot serve, and another has not reported yet',
      [node('n1', 'True', ''), node('n2', 'True', taken), node('n3', 'True', 'True Serving')],
      'PortTaken',
      '2 of 3 nodes do not serve Dns objects: n2: port 80 of this node is taken; n1: not yet',
      true,
    ],
    [
      'many cannot',
      ['a', 'b', 'c', 'd'].map((name) => node(name, 'True', 'False RoutingFailed: no')),
      'RoutingFailed',
      '4 of 4 nodes do not serve Dns objects: a: no; b: no; c: no; …',
      true,
    ],
  ];
  for (const [name, nodes, reason, message, isProblem] of nodesSay) {
    it(`contains the reports of the nodes if ${name}`, () => {
      const { status, problem } = plan(makeDns('one', 'a.example', ['/=web:80']), now, nodes);
      const [condition] = status.conditions ?? [];
      assert.deepEqual(
        [condition?.status, condition?.reason, condition?.message],
        ['False', reason, message],
      );
      assert.deepEqual(problem, isProblem ? { reason, message } : undefined);
    });
  }

  it('does not wait for a deleted node', () => {
    const nodes = [...serving, node('n2', 'Unknown', taken), node('n3', 'False', '')];
    assert.equal(
      plan(makeDns('one', 'a.example', ['/=web:80']), now, nodes).status.conditions?.[0]?.status,
      'True',
    );
  });

  it('sets a transition time if there was none before', () => {
    const first = plan(makeDns('one', 'a.example', ['/=web:80']));
    const conditions = first.status.conditions?.map(({ lastTransitionTime: _time, ...rest }) => rest);
    const dns = { ...makeDns('one', 'a.example', ['/=web:80']), status: { conditions } };
    assert.equal(plan(dns).status.conditions?.[0]?.lastTransitionTime, now);
  });

  it('keeps foreign conditions', () => {
    const other = { type: 'Other', status: 'True' as const };
    const dns = { ...makeDns('one', 'a.example', ['/=web:80']), status: { conditions: [other] } };
    assert.deepEqual(
      plan(dns).status.conditions?.map(({ type }) => type),
      ['Other', 'Ready'],
    );
  });
});
