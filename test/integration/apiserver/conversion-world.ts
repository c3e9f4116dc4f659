/** A kind with two versions that a webhook converts: v1 has `spec.hostPort`, v2 has host and port. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import {
  type ConversionRequest,
  startWebhookServer,
  type WebhookServer,
} from '../../fixtures/webhook-server.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const v1 = '/apis/example.com/v1/namespaces/default/hosts';
export const v2 = '/apis/example.com/v2/namespaces/default/hosts';

const text = { type: 'string' };
const status = { type: 'object', properties: { replicas: { type: 'integer' }, note: text } };
const schemaOf = (properties: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties }, status } },
});

export const versions = (stored: 'v1' | 'v2' = 'v1') => [
  {
    ...{ name: 'v1', served: true, storage: stored === 'v1' },
    schema: schemaOf({ hostPort: text, replicas: { type: 'integer' } }),
    subresources: {
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    },
    additionalPrinterColumns: [{ name: 'HostPort', type: 'string', jsonPath: '.spec.hostPort' }],
    selectableFields: [{ jsonPath: '.spec.hostPort' }],
  },
  {
    ...{ name: 'v2', served: true, storage: stored === 'v2' },
    schema: schemaOf({ host: text, port: { ...text, default: '80' }, copies: { type: 'integer' } }),
    subresources: {
      status: {},
      scale: { specReplicasPath: '.spec.copies', statusReplicasPath: '.status.replicas' },
    },
    additionalPrinterColumns: [{ name: 'Host', type: 'string', jsonPath: '.spec.host' }],
    selectableFields: [{ jsonPath: '.spec.host' }],
  },
];

type Host = KubeObject & { spec: JsonObject };

/** Converts as the webhook does. */
export function convert(object: KubeObject, apiVersion: string): KubeObject {
  const { spec, ...rest } = object as Host;
  const { hostPort = '', host = '', port = '', replicas, copies, ...others } = spec;
  const [name, number] = String(hostPort).split(':');
  const count = replicas ?? copies;
  const next = apiVersion.endsWith('/v2')
    ? { host: name, port: number, ...(count !== undefined && { copies: count }) }
    : { hostPort: `${host}:${port}`, ...(count !== undefined && { replicas: count }) };
  return { ...rest, apiVersion, spec: { ...others, ...next } } as KubeObject;
}

export const success = (convertedObjects: readonly unknown[]) => ({
  result: { status: 'Success' },
  convertedObjects,
});

export const honest = ({ objects, desiredAPIVersion }: ConversionRequest) =>
  success(objects.map((object) => convert(object, desiredAPIVersion)));

export interface ConversionWorld {
  readonly server: TestServer;
  readonly hook: WebhookServer<ConversionRequest>;
  /** Returns the stored object, without a resourceVersion. */
  stored(name: string): Promise<Host>;
  /** Changes the specification of the definition. */
  change(spec: object): Promise<void>;
  stop(): Promise<void>;
}

export async function startConversionWorld(reviewVersions: readonly string[]): Promise<ConversionWorld> {
  const server = await startTestServer({ clock: systemClock });
  const hook = await startWebhookServer<ConversionRequest>();
  hook.answer(honest);
  const names = { plural: 'hosts', singular: 'host', kind: 'Host', listKind: 'HostList' };
  const made = await server.call('POST', definitions, {
    metadata: { name: 'hosts.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names, versions: versions() },
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: hook.url, caBundle: hook.caBundle },
          conversionReviewVersions: reviewVersions,
        },
      },
    },
  });
  assert.equal(made.status, 201, made.text);
  // The controller that accepts the names is not part of this world.
  const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }));
  const accepted = { ...made.json(), status: { storedVersions: ['v1'], acceptedNames: names, conditions } };
  const established = await server.call('PUT', `${definitions}/hosts.example.com/status`, accepted);
  assert.equal(established.status, 200, established.text);
  return {
    server,
    hook,
    async stored(name) {
      const found = await server.store.get(`/registry/hosts.example.com/default/${name}`);
      return JSON.parse(found?.value.toString() ?? '{}') as Host;
    },
    async change(spec) {
      const type = { headers: { 'content-type': 'application/merge-patch+json' } };
      const answer = await server.call('PATCH', `${definitions}/hosts.example.com`, { spec }, type);
      assert.equal(answer.status, 200, answer.text);
      // A list waits until the cache, and so the served kinds, are as new as the store.
      await server.call('GET', definitions);
    },
    async stop() {
      await hook.stop();
      await server.stop();
    },
  };
}
