/** A server with ValidatingAdmissionPolicies, and objects that they check. */
import { after, before } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

export const group = '/apis/admissionregistration.k8s.io/v1';

export let server: TestServer;

export const configMaps = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
};

export const policy = (name: string, spec: object) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: configMaps, ...spec },
});

export const binding = (policyName: string, spec: object = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: policyName },
  spec: { policyName, validationActions: ['Deny'], ...spec },
});

export const create = (plural: string, object: object) => server.call('POST', `${group}/${plural}`, object);

export const configMap = (name: string, data: object = {}, labels: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

/** Starts the server before the tests of a file, and stops it after them. */
export function serveValidatingPolicies(): void {
  before(async () => {
    server = await startTestServer();
  });
  after(async () => {
    await server.stop();
  });
}
