import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Dns } from '../../../src/api/minik8s/v1/dns.ts';
import { planDnsStatus } from '../../../src/controllers/dns-plan.ts';
import { makeService } from '../dns/objects.ts';
import { makeDns } from '../routing/objects.ts';

const now = '2026-11-20T10:00:00Z';
const later = '2026-11-20T11:00:00Z';
const services = [
  makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] }),
  makeService('udp', { clusterIP: '10.96.0.21', ports: [{ protocol: 'UDP', port: 80 }] }),
  makeService('db', { clusterIP: 'None', ports: [{ protocol: 'TCP', port: 80 }] }),
  makeService('far', { type: 'ExternalName', externalName: 'x.example' }),
];
const find = (name: string) => services.find(({ metadata }) => metadata.name === name);
const plan = (dns: Dns, time = now) =>
  planDnsStatus(dns, { serviceOf: find, clusterDomain: 'cluster.local', now: time });

describe('the status of a Dns', () => {
  it('is ready when every path leads to a Service, and then at rest', () => {
    const dns = makeDns('one', 'a.example', ['/=web:80']);
    const { status, changed, problem } = plan(dns);
    assert.deepEqual(status, {
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Routed',
          message: 'every path leads to a Service',
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
    it(`says ${reason} of ${path}`, () => {
      const { status, problem } = plan(makeDns('one', 'a.example', [path]));
      assert.deepEqual(problem, { reason, message });
      assert.deepEqual(
        status.conditions?.map((condition) => [condition.status, condition.reason, condition.message]),
        [['False', reason, message]],
      );
    });
  }

  it('says that a name of the cluster is not for the taking', () => {
    for (const host of ['cluster.local', 'kubernetes.default.svc.cluster.local']) {
      const { problem } = plan(makeDns('one', host, ['/=none:80']));
      assert.equal(problem?.reason, 'HostNotAllowed');
      assert.match(problem?.message ?? '', /does not resolve.*; path \/: service "none" not found/);
    }
    assert.equal(plan(makeDns('one', 'mycluster.local', ['/=web:80'])).problem, undefined);
  });

  it('tells what is wrong once, and again when something else is', () => {
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

  it('leaves the conditions of others alone', () => {
    const other = { type: 'Other', status: 'True' as const };
    const dns = { ...makeDns('one', 'a.example', ['/=web:80']), status: { conditions: [other] } };
    assert.deepEqual(
      plan(dns).status.conditions?.map(({ type }) => type),
      ['Other', 'Ready'],
    );
  });
});
