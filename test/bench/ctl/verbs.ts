/** The verbs that are measured, and the objects that they find. */
import assert from 'node:assert/strict';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';

export interface MeasuredVerb {
  readonly name: string;
  /** `manifest` is the path of a file with the objects that `fill` has returned. */
  readonly args: (manifest: string) => readonly string[];
}

export const verbs: readonly MeasuredVerb[] = [
  { name: 'get pods', args: () => ['get', 'pods'] },
  { name: 'get -o yaml', args: () => ['get', 'pods', '-o', 'yaml'] },
  { name: 'describe', args: () => ['describe', 'pod', 'web-1'] },
  { name: 'apply', args: (manifest) => ['apply', '-f', manifest] },
  { name: 'explain', args: () => ['explain', 'pod.spec.containers'] },
  { name: 'api-resources', args: () => ['api-resources'] },
  { name: 'auth can-i', args: () => ['auth', 'can-i', 'create', 'pods'] },
  { name: 'label', args: () => ['label', 'configmap', 'settings', 'a=b', '--overwrite'] },
  { name: 'logs', args: () => ['logs', 'web-1'] },
  { name: 'version', args: () => ['version', '--client'] },
];

/** A log of 10 MB. */
export const logText = Buffer.from(
  'a line of a log, as programs write them, with a number\n'.repeat(180_000),
);

const podCount = 100;

/** Creates the objects, and resolves to a manifest that changes nothing after its first application. */
export async function fill(server: HttpsTestServer): Promise<string> {
  const create = async (plural: string, object: object) => {
    const { status, text } = await server.call('POST', `/api/v1/namespaces/default/${plural}`, object);
    assert.equal(status, 201, text);
  };
  for (let pod = 0; pod < podCount; pod++)
    await create('pods', {
      metadata: { name: `web-${pod}`, labels: { app: 'web' } },
      spec: { nodeName: 'n', containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
    });
  await create('configmaps', { metadata: { name: 'settings' }, data: { a: 'b' } });
  return `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: applied}
data: {a: b}
`;
}
