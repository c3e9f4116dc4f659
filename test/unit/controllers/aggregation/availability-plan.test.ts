import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { APIService } from '../../../../src/api/apiregistration/v1/api-service.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import {
  askedAvailability,
  localAvailability,
  serviceProblem,
  withAvailability,
} from '../../../../src/controllers/aggregation/availability-plan.ts';

const apiService = {
  metadata: { name: 'v1.ext.example' },
  spec: { service: { namespace: 'a', name: 'ext', port: 443 } },
} as APIService;
const service = (spec: object) => ({ metadata: { name: 'ext' }, spec }) as Service;
const usual = service({ type: 'ClusterIP', ports: [{ name: 'https', port: 443 }] });
const slice = (ready: boolean | undefined, name = 'https') =>
  ({ ports: [{ name, port: 8443 }], endpoints: [{ conditions: { ready } }] }) as EndpointSlice;

const cases: readonly (readonly [string, Service | undefined, EndpointSlice[], string, string])[] = [
  ['a missing Service', undefined, [], 'ServiceNotFound', 'service/ext in "a" is not present'],
  [
    'another port',
    service({ type: 'ClusterIP', ports: [{ port: 80 }] }),
    [],
    'ServicePortError',
    'service/ext in "a" is not listening on port 443',
  ],
  ['no slice', usual, [], 'EndpointsNotFound', 'cannot find endpointslices for service/ext in "a"'],
  [
    'no ready endpoint',
    usual,
    [slice(false)],
    'MissingEndpoints',
    'endpointslices for service/ext in "a" have no addresses with port name "https"',
  ],
  [
    'endpoints for another port only',
    usual,
    [slice(true, 'metrics')],
    'MissingEndpoints',
    'endpointslices for service/ext in "a" have no addresses with port name "https"',
  ],
];
for (const [what, found, slices, reason, message] of cases)
  test(`an extension server with ${what} is not available`, () => {
    assert.deepEqual(serviceProblem(apiService, found, slices), { status: 'False', reason, message });
  });

test('a server with a ready endpoint, and one behind an ExternalName, are probed', () => {
  assert.equal(serviceProblem(apiService, usual, [slice(false), slice(undefined)]), undefined);
  assert.equal(serviceProblem(apiService, service({ type: 'ExternalName' }), []), undefined);
});

test('the condition is written when it changes, and its transition time changes only with its status', () => {
  const passed = withAvailability(apiService, askedAvailability(undefined), 'T1');
  assert.deepEqual(passed?.status?.conditions, [
    {
      type: 'Available',
      status: 'True',
      lastTransitionTime: 'T1',
      reason: 'Passed',
      message: 'all checks passed',
    },
  ]);
  assert.ok(passed);
  assert.equal(withAvailability(passed, askedAvailability(undefined), 'T2'), undefined);
  const local = withAvailability(passed, localAvailability(), 'T2');
  assert.equal(local?.status?.conditions?.[0]?.reason, 'Local');
  assert.equal(local?.status?.conditions?.[0]?.lastTransitionTime, 'T1');
  const failed = withAvailability(passed, askedAvailability('it hangs'), 'T3');
  assert.deepEqual(
    failed?.status?.conditions?.map(({ status, reason, message, lastTransitionTime }) => [
      status,
      reason,
      message,
      lastTransitionTime,
    ]),
    [['False', 'FailedDiscoveryCheck', 'it hangs', 'T3']],
  );
});
