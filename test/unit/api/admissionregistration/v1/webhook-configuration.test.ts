import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutatingWebhookConfigurationResource } from '../../../../../src/api/admissionregistration/v1/mutating-webhook-configuration.ts';
import { validatingWebhookConfigurationResource } from '../../../../../src/api/admissionregistration/v1/validating-webhook-configuration.ts';
import { created, testCreate } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../column-cells.ts';

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const webhook = {
  name: 'deny.example.com',
  clientConfig: { url: 'https://localhost:9443/deny' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
};
const configuration = (kind: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: 'guard' },
  webhooks: [webhook],
});
const validating = configuration('ValidatingWebhookConfiguration');
const mutating = configuration('MutatingWebhookConfiguration');
const of = (patch: object) => ({ webhooks: [{ ...webhook, ...patch }] });
const ofRule = (patch: object) => of({ rules: [{ ...rule, ...patch }] });
const ofUrl = (url: string) => of({ clientConfig: { url } });
const ofService = (patch: object) =>
  of({ clientConfig: { service: { name: 'hook', namespace: 'default', ...patch } } });
const twice = (value: object) => [value, value];
const at = 'webhooks[0]';
const resources = `${at}.rules[0].resources`;

testCreate(validatingWebhookConfigurationResource, validating, [
  ['nothing', { webhooks: null }],
  ['a Service', ofService({ path: '/validate', port: 8443 })],
  [
    'a name with two segments',
    of({ name: 'deny.example' }),
    `${at}.name: Invalid value: "deny.example": should be a domain with at least three segments separated by dots`,
  ],
  ['no name', of({ name: '' }), `${at}.name: Required value`],
  [
    'two webhooks of one name',
    { webhooks: [webhook, webhook] },
    'webhooks[1].name: Duplicate value: "deny.example.com"',
  ],
  [
    'side effects that a dry run cannot omit',
    of({ sideEffects: 'Some' }),
    `${at}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`,
  ],
  [
    'no side effects',
    of({ sideEffects: null }),
    `${at}.sideEffects: Required value: must specify one of None, NoneOnDryRun`,
  ],
  [
    'an unknown failure policy',
    of({ failurePolicy: 'Retry' }),
    `${at}.failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"`,
  ],
  [
    'a timeout of 31 seconds',
    of({ timeoutSeconds: 31 }),
    `${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`,
  ],
  [
    'no version of the review',
    of({ admissionReviewVersions: null }),
    `${at}.admissionReviewVersions: Required value: must specify one of v1, v1beta1`,
  ],
  [
    'unknown versions of the review',
    of({ admissionReviewVersions: ['v2', 'v2'] }),
    `${at}.admissionReviewVersions[1]: Invalid value: "v2": duplicate version`,
    `${at}.admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1`,
  ],
  [
    'no client',
    of({ clientConfig: {} }),
    `${at}.clientConfig: Required value: exactly one of url or service is required`,
  ],
  [
    'a URL without TLS',
    ofUrl('http://user@host/path?a=b#c'),
    `${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    `${at}.clientConfig.url: Invalid value: "user": user information is not permitted in the URL`,
    `${at}.clientConfig.url: Invalid value: "c": fragments are not permitted in the URL`,
    `${at}.clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`,
  ],
  [
    'a URL without a host',
    ofUrl('https:///path'),
    `${at}.clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`,
  ],
  [
    'a Service without names and with a bad port',
    ofService({ name: '', namespace: '', port: 0 }),
    `${at}.clientConfig.service.name: Required value: service name is required`,
    `${at}.clientConfig.service.namespace: Required value: service namespace is required`,
    `${at}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
  ],
  [
    'a path with an empty segment',
    ofService({ path: '/a//b' }),
    `${at}.clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty`,
  ],
  [
    'a path without a slash',
    ofService({ path: 'xa' }),
    `${at}.clientConfig.service.path: Invalid value: "xa": must start with a '/'`,
  ],
  [
    'a rule without anything',
    of({ rules: [{}] }),
    `${at}.rules[0].operations: Required value`,
    `${at}.rules[0].apiGroups: Required value`,
    `${at}.rules[0].apiVersions: Required value`,
    `${resources}: Required value`,
  ],
  [
    'wildcards beside other values',
    ofRule({ operations: ['*', 'CREATE'], apiGroups: ['*', 'apps'], apiVersions: ['*', 'v1'] }),
    `${at}.rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    `${at}.rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`,
    `${at}.rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
  ],
  [
    'an unknown operation',
    ofRule({ operations: ['GET'] }),
    `${at}.rules[0].operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
  ],
  [
    'subresources that a wildcard covers',
    ofRule({ resources: ['pods/*', 'pods/exec', '*/scale', 'deployments/scale'] }),
    `${resources}[1]: Invalid value: "pods/exec": if 'pods/*' is present, must not specify pods/exec`,
    `${resources}[3]: Invalid value: "deployments/scale": if '*/scale' is present, must not specify deployments/scale`,
  ],
  [
    'all resources, and one of them again',
    ofRule({ resources: ['*', 'pods'] }),
    `${resources}: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
  ],
  [
    'an unknown scope',
    ofRule({ scope: 'Here' }),
    `${at}.rules[0].scope: Unsupported value: "Here": supported values: "*", "Cluster", "Namespaced"`,
  ],
  [
    'match conditions',
    of({ matchConditions: [{ name: 'a', expression: "request.operation != 'DELETE' && has(object.spec)" }] }),
  ],
  [
    'match conditions with an empty and with repeated names',
    of({ matchConditions: [{ name: '', expression: 'true' }, ...twice({ name: 'a', expression: '' })] }),
    `${at}.matchConditions[0].name: Required value`,
    `${at}.matchConditions[1].expression: Required value`,
    `${at}.matchConditions[2].expression: Required value`,
    `${at}.matchConditions[2].name: Duplicate value: "a"`,
  ],
  [
    'a match condition that does not return a boolean',
    of({ matchConditions: [{ name: 'a', expression: 'request.name' }] }),
    `${at}.matchConditions[0].expression: Invalid value: "request.name": must evaluate to bool but got string`,
  ],
  [
    'a match condition with an unknown variable',
    of({ matchConditions: [{ name: 'a', expression: 'subject == null' }] }),
    `${at}.matchConditions[0].expression: Invalid value: "subject == null": compilation failed: ERROR: <input>:1:1: undeclared reference to 'subject' (in container '')`,
  ],
]);

testCreate(mutatingWebhookConfigurationResource, mutating, [
  ['a webhook with the reinvocation policy IfNeeded', of({ reinvocationPolicy: 'IfNeeded' })],
  [
    'an unknown reinvocation policy',
    of({ reinvocationPolicy: 'Always' }),
    `${at}.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`,
  ],
]);

const defaults = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
  rules: [{ ...rule, scope: '*' }],
};

test('webhooks have the defaults of Kubernetes', () => {
  const patched = { ...mutating, ...ofService({}) };
  const { webhooks = [] } = created(mutatingWebhookConfigurationResource, patched);
  const clientConfig = { service: { name: 'hook', namespace: 'default', port: 443 } };
  assert.deepEqual(webhooks[0], { ...webhook, ...defaults, clientConfig, reinvocationPolicy: 'Never' });
  const checked = created(validatingWebhookConfigurationResource, validating).webhooks ?? [];
  assert.deepEqual(checked[0], { ...webhook, ...defaults });
});

for (const kind of [mutatingWebhookConfigurationResource, validatingWebhookConfigurationResource])
  testCells(kind, 'number of webhooks', { webhooks: [webhook] }, { Name: 'web', Webhooks: 1, Age: '95s' });
