/** MutatingAdmissionPolicies change objects of custom kinds by the lists of their schemas. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const properties = {
  spec: {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      ports: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, port: { type: 'integer' } },
        },
      },
    },
  },
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties } },
      },
    ],
  },
};
const widget = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'one' },
  spec: { size: 1, ports: [{ name: 'http', port: 80 }] },
};
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const policies = '/apis/admissionregistration.k8s.io/v1';

let server: TestServer;
let cluster: Cluster;
before(async () => {
  server = await startTestServer();
  cluster = await startCluster({ server });
  const made = await server.call(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definition,
  );
  assert.equal(made.status, 201, made.text);
  await cluster.eventually(
    'the kind is served',
    async () => (await server.call('GET', widgets)).status === 200,
  );
  const binding = { metadata: { name: 'widgets' }, spec: { policyName: 'widgets' } };
  const bound = await server.call('POST', `${policies}/mutatingadmissionpolicybindings`, binding);
  assert.equal(bound.status, 201, bound.text);
});
after(async () => {
  await cluster.stop();
});

/** Creates a widget, without storing it, while a policy with the expression is in force. */
async function createdWith(expression: string) {
  const policy = {
    metadata: { name: 'widgets' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] },
        ],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      reinvocationPolicy: 'Never',
    },
  };
  const made = await server.call('POST', `${policies}/mutatingadmissionpolicies`, policy);
  assert.equal(made.status, 201, made.text);
  await server.call('GET', `${policies}/mutatingadmissionpolicies`);
  const answer = await server.call('POST', `${widgets}?dryRun=All`, widget);
  const removed = await server.call('DELETE', `${policies}/mutatingadmissionpolicies/widgets`);
  assert.equal(removed.status, 200);
  return answer;
}

it('a list with keys is merged item by item, and other fields are kept', async () => {
  const answer = await createdWith(`Object{spec: Object.spec{ports: [
    Object.spec.ports{name: "http", port: 8080}, Object.spec.ports{name: "more", port: 1}
  ]}}`);
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(answer.json<{ spec: object }>().spec, {
    size: 1,
    ports: [
      { name: 'http', port: 8080 },
      { name: 'more', port: 1 },
    ],
  });
});

it('a field that the schema lacks, and a value of a wrong type, are rejected', async () => {
  const unknown = await createdWith('Object{spec: Object.spec{colour: "red"}}');
  assert.equal(unknown.status, 403, unknown.text);
  assert.match(String(unknown.json<Status>().message), /\.spec\.colour: field not declared in schema$/);
  const wrong = await createdWith('Object{spec: Object.spec{size: "big"}}');
  assert.ok([403, 422].includes(wrong.status), wrong.text);
});
