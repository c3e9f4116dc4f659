/** A server with MutatingAdmissionPolicies, and objects that they change. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

export const group = '/apis/admissionregistration.k8s.io/v1';

export let server: TestServer;

export const ruleFor = (apiGroup: string, ...resources: string[]) => ({
  resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources }],
});

export const configMaps = ruleFor('', 'configmaps');

export const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});

export const json = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

export const label = (key: string, value: string) =>
  apply(`Object{metadata: Object.metadata{labels: {"${key}": ${value}}}}`);

export const policy = (name: string, spec: object, version = 'v1') => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: configMaps, reinvocationPolicy: 'Never', ...spec },
});

export const binding = (policyName: string, spec: object = {}, version = 'v1') => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, ...spec },
});

export type Policies = Readonly<Record<string, { readonly spec: object; readonly bound?: object }>>;

/** Creates policies with their bindings, and removes all afterwards. */
export async function withPolicies(policies: Policies, body: () => Promise<void>) {
  for (const [name, { spec, bound }] of Object.entries(policies)) {
    const made = await server.call('POST', `${group}/mutatingadmissionpolicies`, policy(name, spec));
    assert.equal(made.status, 201, made.text);
    const bindings = `${group}/mutatingadmissionpolicybindings`;
    const bindingMade = await server.call('POST', bindings, binding(name, bound));
    assert.equal(bindingMade.status, 201, bindingMade.text);
  }
  await seen();
  try {
    await body();
  } finally {
    for (const name of Object.keys(policies))
      for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'])
        assert.equal((await server.call('DELETE', `${group}/${plural}/${name}`)).status, 200);
    await seen();
  }
}

/** Lists wait until the cache is as new as the store, so the server has seen all earlier writes. */
export async function seen() {
  for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'configmaps']) {
    const path = plural === 'configmaps' ? '/api/v1' : group;
    assert.equal((await server.call('GET', `${path}/${plural}`)).status, 200);
  }
}

export const configMap = (name: string, data: object = {}, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data,
});

export interface ConfigMap {
  readonly data?: Record<string, string>;
  readonly metadata: { readonly labels?: object; readonly name: string };
}

export const path = '/api/v1/namespaces/default/configmaps';

export const post = (object: object) => server.call('POST', path, object);

/** Creates an object as a dry run, and returns the object that would be stored. */
export async function dry<T>(object: object, at = path): Promise<T> {
  const answer = await server.call('POST', `${at}?dryRun=All`, object);
  assert.equal(answer.status, 201, answer.text);
  return answer.json<T>();
}

/** Returns status, reason and message of a refused create. */
export async function refusal(object: object, at = path) {
  const answer = await server.call('POST', `${at}?dryRun=All`, object);
  const { reason, message } = answer.json<Status>();
  return { status: answer.status, reason, message: String(message) };
}

/** Starts the server before the tests of a file, and stops it after them. */
export function serveMutatingPolicies(): void {
  before(async () => {
    server = await startTestServer();
  });
  after(async () => {
    await server.stop();
  });
}
