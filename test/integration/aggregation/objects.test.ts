/** Deletion of namespaces and garbage collection reach the objects that extension servers keep. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apiServiceResource, availableOf } from '../../../src/api/apiregistration/v1/api-service.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type ExtensionObjects, extensionObjects } from '../../fixtures/extension-objects.ts';
import {
  addExtensionService,
  apiService,
  type ExtensionServer,
  encoded,
  services,
  startExtensionServer,
} from '../../fixtures/extension-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };

describe('objects of an extension server', () => {
  let server: TestServer;
  let cluster: Cluster;
  let extension: ExtensionServer;
  let things: ExtensionObjects;
  before(async () => {
    const authority = await createAuthority('front-proxy', validity.notBefore, validity.notAfter);
    const client = await issueCertificate(authority, {
      commonName: 'front-proxy-client',
      usages: ['client'],
      ...validity,
    });
    extension = await startExtensionServer(authority);
    things = extensionObjects();
    extension.answerBy(things.answer);
    server = await startTestServer({
      clock: systemClock,
      nodeConnection: extension.agents,
      frontProxy: { client: replaceable(client) },
    });
    cluster = await startCluster({ server });
    await addExtensionService(server);
    const made = await server.call('POST', services, apiService({ caBundle: encoded(extension.authority) }));
    assert.equal(made.status, 201, made.text);
    await available('Passed');
  });
  after(async () => {
    await cluster.stop();
    await extension.stop();
  });

  const ask = async () => {
    const annotations = { asked: String(Date.now()) };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const path = `${services}/v1.ext.example`;
    assert.equal((await server.call('PATCH', path, { metadata: { annotations } }, { headers })).status, 200);
  };
  const available = (reason: string) =>
    cluster.eventually(reason, async () => {
      const found = await cluster.get(apiServiceResource, 'v1.ext.example');
      return found && availableOf(found)?.reason === reason ? true : undefined;
    });
  const hangs = async () => {
    extension.answerBy(() => undefined);
    await ask();
    await available('FailedDiscoveryCheck');
  };
  const answers = async () => {
    extension.answerBy(things.answer);
    await ask();
    await available('Passed');
  };
  const makeNamespace = async (name: string) => {
    await cluster.client.resource(namespaceResource).create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  };
  const makeMap = (name: string, namespace: string, owner?: KubeObject | ReturnType<typeof things.add>) =>
    cluster.client.resource(configMapResource).create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, ...(owner && { ownerReferences: [referenceTo(owner)] }) },
    });
  const referenceTo = ({
    apiVersion,
    kind,
    metadata: { name, uid },
  }: Pick<KubeObject, 'apiVersion' | 'kind'> & { metadata: { name: string; uid: string } }) => ({
    ...{ apiVersion, kind, name, uid },
  });
  const map = (name: string, namespace = 'default') => cluster.get(configMapResource, name, namespace);
  const removeMap = (name: string) =>
    cluster.client.resource(configMapResource).delete(name, 'default', { propagationPolicy: 'Background' });
  const gone = (what: string, probe: () => Promise<unknown>) =>
    cluster.eventually(`${what} is gone`, async () => ((await probe()) === undefined ? true : undefined));

  it('are deleted with their namespace, and objects in other namespaces stay', async () => {
    await makeNamespace('left');
    things.add('a', 'left');
    things.add('b', 'left');
    things.add('c', 'default');
    await cluster.client.resource(namespaceResource).delete('left');
    await gone('the namespace', () => cluster.get(namespaceResource, 'left'));
    assert.deepEqual(things.names('left'), []);
    assert.deepEqual(things.names('default'), ['c']);
    things.remove('c', 'default');
  });

  it('are deleted after their owner', async () => {
    const owner = await makeMap('owner', 'default');
    things.add('owned', 'default', [referenceTo(owner)]);
    things.add('free', 'default');
    await removeMap('owner');
    await cluster.eventually('the owned thing is gone', async () =>
      things.names('default').includes('owned') ? undefined : true,
    );
    assert.deepEqual(things.names('default'), ['free']);
  });

  it('can own objects of the API server, which are deleted after them', async () => {
    const owner = things.add('lord', 'default');
    await makeMap('vassal', 'default', owner);
    things.remove('lord', 'default');
    await gone('the owned map', () => map('vassal'));
  });

  it('keep their namespace while their server hangs, and its condition has the reason', async () => {
    await makeNamespace('stuck');
    things.add('kept', 'stuck');
    await makeMap('emptied', 'stuck');
    await hangs();
    await cluster.client.resource(namespaceResource).delete('stuck');
    const { message } = await cluster.eventually('the condition', async () => {
      const found = await cluster.get(namespaceResource, 'stuck');
      const one = found?.status?.conditions?.find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
      return one?.status === 'True' ? one : undefined;
    });
    assert.match(message ?? '', /Discovery failed for some groups, 1 failing: .*ext\.example\/v1/);
    await gone('the map of the namespace', () => map('emptied', 'stuck'));
    assert.ok(await cluster.get(namespaceResource, 'stuck'));
  });

  it('do not stop garbage collection of other kinds, and their own dependents stay', async () => {
    const lord = things.add('silent', 'default');
    const owner = await makeMap('first', 'default');
    await makeMap('second', 'default', owner);
    await makeMap('third', 'default', lord);
    await removeMap('first');
    await gone('the second map', () => map('second'));
    assert.ok(await map('third'));
  });

  it('are deleted once their server answers again', async () => {
    await answers();
    await gone('the namespace', () => cluster.get(namespaceResource, 'stuck'));
    assert.deepEqual(things.names('stuck'), []);
    assert.ok(await map('third'), 'its owner is still there');
  });

  it('no longer keep their namespace once their APIService is deleted', async () => {
    await makeNamespace('unserved');
    things.add('orphan', 'unserved');
    assert.equal((await server.call('DELETE', `${services}/v1.ext.example`)).status, 200);
    await cluster.eventually('the version is gone', async () =>
      (await server.call('GET', '/apis/ext.example/v1')).status === 404 ? true : undefined,
    );
    await cluster.client.resource(namespaceResource).delete('unserved');
    await gone('the namespace', () => cluster.get(namespaceResource, 'unserved'));
    assert.deepEqual(things.names('unserved'), ['orphan']);
  });
});
