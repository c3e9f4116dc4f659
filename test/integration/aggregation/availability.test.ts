/** The condition Available follows the Service, its endpoints, and the answers of the extension server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apiServiceResource, availableOf } from '../../../src/api/apiregistration/v1/api-service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import {
  addExtensionService,
  apiService,
  type ExtensionServer,
  encoded,
  services,
  startExtensionServer,
  usualAnswer,
} from '../../fixtures/extension-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };

describe('the availability of an extension server', () => {
  let server: TestServer;
  let cluster: Cluster;
  let extension: ExtensionServer;
  before(async () => {
    const authority = await createAuthority('front-proxy', validity.notBefore, validity.notAfter);
    const client = await issueCertificate(authority, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      ...validity,
    });
    extension = await startExtensionServer(authority);
    // The network is real, and a clock of the test would be ahead of it.
    server = await startTestServer({
      clock: systemClock,
      nodeConnection: extension.agents,
      frontProxy: { client: replaceable(client) },
    });
    cluster = await startCluster({ server });
  });
  after(async () => {
    await cluster.stop();
    await extension.stop();
  });

  const reasonIs = (reason: string) =>
    cluster.eventually(reason, async () => {
      const found = await cluster.get(apiServiceResource, 'v1.ext.example');
      const condition = found && availableOf(found);
      return condition?.reason === reason ? condition : undefined;
    });
  /** Changes the APIService, so that its server is queried at once. */
  const ask = async () => {
    const annotations = { asked: String(Date.now()) };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const path = `${services}/v1.ext.example`;
    const { status, text } = await server.call('PATCH', path, { metadata: { annotations } }, { headers });
    assert.equal(status, 200, text);
  };
  const things = () => server.call('GET', '/apis/ext.example/v1');

  it('is False without its Service', async () => {
    const made = await server.call('POST', services, apiService({ caBundle: encoded(extension.authority) }));
    assert.equal(made.status, 201, made.text);
    await reasonIs('ServiceNotFound');
    assert.equal((await things()).status, 503);
  });

  it('is True with its Service and endpoints', async () => {
    await addExtensionService(server);
    const { status } = await reasonIs('Passed');
    assert.equal(status, 'True');
    assert.equal((await things()).status, 200);
    assert.equal(extension.clients.at(0), 'front-proxy-client');
    assert.equal(extension.requests.at(0)?.headers['x-remote-user'], 'system:kube-aggregator');
  });

  it('makes its kinds part of discovery', async () => {
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const groups = async (accept: string) =>
      (await server.call('GET', '/apis', undefined, { headers: { accept } })).json<{
        readonly groups: readonly { readonly name: string }[];
        readonly items: readonly { readonly metadata: { readonly name: string } }[];
      }>();
    const found = await cluster.eventually('the group with its kinds', async () => {
      const item = (await groups(aggregated)).items.find(({ metadata }) => metadata.name === 'ext.example');
      return JSON.stringify(item).includes('things') ? item : undefined;
    });
    assert.deepEqual(found, {
      metadata: { name: 'ext.example', creationTimestamp: null },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'things',
              responseKind: { group: 'ext.example', version: 'v1', kind: 'Thing' },
              verbs: ['get', 'list', 'watch', 'create', 'delete'],
              scope: 'Namespaced',
              singularResource: 'thing',
            },
          ],
        },
      ],
    });
    const names = (await groups('application/json')).groups.map(({ name }) => name);
    assert.equal(names.filter((name) => name === 'ext.example').length, 1);
    assert.equal((await server.call('GET', '/apis/ext.example')).status, 200);
  });

  it('ends when the server answers with errors, and returns when the errors end', async () => {
    extension.answerBy((_, response) => response.writeHead(500).end());
    await ask();
    const { message } = await reasonIs('FailedDiscoveryCheck');
    assert.match(
      message ?? '',
      /bad status from https:\/\/ext\.default\.svc:443\/apis\/ext\.example\/v1: 500/,
    );
    extension.answerBy(usualAnswer);
    await ask();
    await reasonIs('Passed');
  });

  it('ends while the server hangs, but its kinds stay in discovery, marked as stale', async () => {
    extension.answerBy(() => undefined);
    await ask();
    await reasonIs('FailedDiscoveryCheck');
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    await cluster.eventually('the stale version', async () => {
      const { text } = await server.call('GET', '/apis', undefined, { headers: { accept: aggregated } });
      return text.includes('"freshness":"Stale","resources":[{"resource":"things"') || undefined;
    });
    assert.equal((await server.call('GET', '/apis/apps/v1')).status, 200);
    extension.answerBy(usualAnswer);
    await ask();
    await reasonIs('Passed');
  });

  it('ends when no endpoint is ready', async () => {
    await cluster.client.resource(endpointSliceResource).delete('ext-1', 'default');
    await reasonIs('EndpointsNotFound');
  });
});
