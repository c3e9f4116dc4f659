/** A server for custom kinds, and definitions that are established. */
import { after, before } from 'node:test';
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', minimum: 1, default: 3 },
          colour: { type: 'string' },
        },
      },
      status: {
        type: 'object',
        properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
      },
    },
  },
};

export let server: TestServer;

export let cluster: Cluster;

export const conditionsOf = async (name: string) => {
  const found = (await server.call('GET', `${definitions}/${name}`)).json<CustomResourceDefinition>();
  return Object.fromEntries((found.status?.conditions ?? []).map(({ type, status }) => [type, status]));
};

export const established = (name: string) =>
  cluster.eventually(
    'the definition is established',
    async () => (await conditionsOf(name)).Established === 'True',
  );

/** Starts the server before the tests of a file, and stops it after them. */
export function serveWidgets(): void {
  before(async () => {
    server = await startTestServer();
    cluster = await startCluster({ server });
  });
  after(async () => {
    await cluster.stop();
  });
}
