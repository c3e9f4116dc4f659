import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiServiceResource } from '../../../../../src/api/apiregistration/v1/api-service.ts';
import { isBuiltIn, localServices } from '../../../../../src/api/apiregistration/v1/local-services.ts';
import type { APIService } from '../../../../../src/api/apiregistration/v1/types.gen.ts';
import { deploymentResource } from '../../../../../src/api/apps/v1/deployment.ts';
import { nodeMetricsResource } from '../../../../../src/api/metrics/v1beta1/node-metrics.ts';
import { KindSet } from '../../../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../../../src/apimachinery/resource-definition.ts';

const { validate, validateStatus, prepareForCreate } = apiServiceResource.strategy;

const service = (spec: Partial<APIService['spec']>, name = 'v1.a.example'): APIService => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name, uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { group: 'a.example', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, ...spec },
});

const remote = { namespace: 'a', name: 'b', port: 443 };
const messages = (object: APIService) =>
  validate?.(object).map(({ field, message }) => `${field}: ${message}`) ?? assert.fail();

test('a local APIService and an APIService of an extension server are accepted', () => {
  assert.deepEqual(messages(service({})), []);
  assert.deepEqual(messages(service({ service: remote, insecureSkipTLSVerify: true })), []);
});

const refused: readonly (readonly [string, Partial<APIService['spec']>, string])[] = [
  [
    'another name',
    { version: 'v2' },
    'metadata.name: Invalid value: "v1.a.example": must be `spec.version+"."+spec.group`: "v2.a.example"',
  ],
  [
    'no priority of the group',
    { groupPriorityMinimum: 0 },
    'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
  ],
  [
    'a priority of the group that is too high',
    { groupPriorityMinimum: 20_001 },
    'spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000',
  ],
  [
    'a priority of the version that is too high',
    { versionPriority: 1001 },
    'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
  ],
  [
    'a caBundle of a local APIService',
    { caBundle: 'YWI=' },
    'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a caBundle',
  ],
  [
    'insecureSkipTLSVerify of a local APIService',
    { insecureSkipTLSVerify: true },
    'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
  ],
  [
    'a caBundle beside insecureSkipTLSVerify',
    { service: remote, caBundle: 'YWI=', insecureSkipTLSVerify: true },
    'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
  ],
  [
    'a port out of range',
    { service: { ...remote, port: 65_536 } },
    'spec.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    'a Service without a namespace',
    { service: { name: 'b', port: 443 } },
    'spec.service.namespace: Required value',
  ],
];

for (const [what, spec, message] of refused)
  test(`an APIService with ${what} is rejected`, () => {
    assert.deepEqual(messages(service(spec)), [message]);
  });

test('a version without a group is rejected unless it is v1', () => {
  const found = messages(service({ group: undefined, version: 'v2' }, 'v2.'));
  assert.deepEqual(found, [
    'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
  ]);
});

test('a new local APIService is available; a new APIService with a Service is not available', () => {
  const context = { now: '2026-01-01T00:00:00Z', subresource: '', user: { name: 'a', groups: [] } };
  const [local, far] = [service({}), service({ service: remote })];
  prepareForCreate?.(local, context);
  prepareForCreate?.(far, context);
  assert.equal(local.status?.conditions?.[0]?.reason, 'Local');
  assert.deepEqual(far.status, {});
});

test('a condition with an unknown status is rejected', () => {
  const wrong = { ...service({}), status: { conditions: [{ type: 'Available', status: 'Yes' }] } };
  assert.deepEqual(
    validateStatus?.(wrong, wrong, 'status').map(({ field }) => field),
    ['status.conditions[0].status'],
  );
});

test('the columns show the Service and why it is not available', () => {
  const row = (object: APIService) =>
    apiServiceResource.columns.slice(1, 3).map(({ cell }) => cell(object, 0));
  const failed = { type: 'Available', status: 'False', reason: 'MissingEndpoints' };
  assert.deepEqual(row(service({})), ['Local', 'Unknown']);
  assert.deepEqual(row({ ...service({ service: remote }), status: { conditions: [failed] } }), [
    'a/b',
    'False (MissingEndpoints)',
  ]);
});

const kinds = new KindSet([
  deploymentResource,
  apiServiceResource,
  nodeMetricsResource,
] as ResourceDefinition[]);
const added = { ...deploymentResource, group: 'a.example', version: 'v1', plural: 'as' };

test('each version except those of APIServices and metrics has an APIService', () => {
  assert.deepEqual([...localServices(kinds).keys()], ['v1.apps']);
  assert.deepEqual(localServices(kinds).get('v1.apps')?.draft.spec, {
    group: 'apps',
    version: 'v1',
    groupPriorityMinimum: 17_800,
    versionPriority: 15,
  });
});

test('added kinds have the priorities of custom resources, and can be claimed', () => {
  const more = new KindSet([deploymentResource] as ResourceDefinition[]);
  more.add(added as ResourceDefinition);
  const found = localServices(more).get('v1.a.example') ?? assert.fail('none');
  assert.equal(found.isPermanent, false);
  assert.equal(found.draft.spec.groupPriorityMinimum, 1000);
  assert.equal(found.draft.spec.versionPriority, 100);
  assert.equal(isBuiltIn(more, 'a.example', 'v1'), false);
  assert.equal(isBuiltIn(more, 'apps', 'v1'), true);
});

test('the version of metrics can be claimed by an extension server', () => {
  assert.equal(isBuiltIn(kinds, 'metrics.k8s.io', 'v1beta1'), false);
});
