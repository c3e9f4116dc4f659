/** Conditions of a Service about external addresses that nodes do not serve for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { planExternalStatus } from '../../../../src/controllers/services/external-addresses-plan.ts';
import { makeService } from '../../cluster-dns/objects.ts';

const now = '2026-11-20T10:00:00Z';
const later = '2026-11-20T11:00:00Z';
const service = (externalIPs: string[], conditions?: object[]): Service => {
  const made = makeService('web', {
    clusterIP: '10.96.0.20',
    externalIPs,
    ports: [{ protocol: 'TCP', port: 80 }],
  });
  return { ...made, ...(conditions && { status: { loadBalancer: {}, conditions } }) } as Service;
};
const plan = (of: Service, time = now, holder: string | undefined = undefined) =>
  planExternalStatus(
    of,
    {
      reservedAs: (address) => (address.endsWith('.9') ? 'the address of node n2' : undefined),
      holder: () => holder ?? `${of.metadata.namespace}/web`,
    },
    time,
  );
const condition = (message: string, reason = 'AddressReserved', lastTransitionTime = now) => ({
  type: 'minik8s.io/ExternalAddressesServed',
  status: 'False',
  reason,
  message: `nodes do not serve every external address: ${message}`,
  lastTransitionTime,
});

test('a Service whose external addresses are all served has no condition', () => {
  assert.deepEqual(plan(service(['203.0.113.8'])), { conditions: [], changed: false, problem: undefined });
});

test('an address of a machine is named in one event, and is not reported again', () => {
  const said = condition('203.0.113.9 is the address of node n2');
  const first = plan(service(['203.0.113.9', '203.0.113.8']));
  assert.deepEqual([first.conditions, first.changed], [[said], true]);
  assert.equal(first.problem?.reason, 'AddressReserved');
  const again = plan(service(['203.0.113.9', '203.0.113.8'], [said]), later);
  assert.deepEqual([again.conditions, again.changed, again.problem], [[said], false, undefined]);
});

test('the condition names only the namespace of a Service in another namespace that uses the port', () => {
  const { conditions } = plan(service(['203.0.113.8']), now, 'team-a/secret-name');
  const message = 'port 80 (TCP) of 203.0.113.8 belongs to an older Service of the namespace team-a';
  assert.deepEqual(conditions, [condition(message, 'AddressTaken')]);
});

test('the condition is removed with its cause, and other conditions stay', () => {
  const other = { ...condition('x'), type: 'Other' };
  const { conditions, changed } = plan(service(['203.0.113.8'], [condition('old'), other]), later);
  assert.deepEqual([conditions, changed], [[other], true]);
});

test('a changed problem has another event, and keeps the transition time of the first', () => {
  const { conditions, problem } = plan(service(['203.0.113.9'], [condition('another')]), later);
  assert.deepEqual(conditions, [condition('203.0.113.9 is the address of node n2')]);
  assert.ok(problem);
});

test('the condition names only a few of many addresses', () => {
  const many = Array.from({ length: 9 }, (_, n) => `203.0.${n}.9`);
  assert.match(plan(service(many)).problem?.message ?? '', /203\.0\.4\.9 is the address of node n2; …$/);
});

test('a headless Service, to which nodes deliver nothing, has no condition', () => {
  const headless = service(['203.0.113.9']);
  headless.spec.clusterIP = 'None';
  assert.deepEqual(plan(headless).conditions, []);
});
