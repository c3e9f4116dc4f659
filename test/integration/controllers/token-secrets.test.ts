/**
 * Secrets for a token of a service account: the controller writes a valid token into them, and removes
 * them with the account.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Secret, secretResource } from '../../../src/api/core/v1/secret.ts';
import { serviceAccountResource } from '../../../src/api/core/v1/service-account/service-account.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

describe('a Secret for a token', () => {
  let server: TestServer;
  let cluster: Cluster;
  before(async () => {
    server = await startTestServer();
    cluster = await startCluster({ server });
  });
  after(() => cluster.stop());
  const accounts = () => cluster.client.resource(serviceAccountResource);
  const makeAccount = (name: string) =>
    cluster.until(
      accounts().create({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name, namespace: 'default' },
      }),
    );
  const make = (name: string, account: string, more: object = {}) =>
    cluster.until(
      cluster.client.resource(secretResource).create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name,
          namespace: 'default',
          annotations: { 'kubernetes.io/service-account.name': account },
        },
        type: 'kubernetes.io/service-account-token',
        ...more,
      } as Draft<Secret>),
    );
  const get = (name: string) => cluster.get(secretResource, name);
  const text = (secret: Secret | undefined, key: string) =>
    Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
  const filled = (name: string) =>
    cluster.eventually(`the Secret ${name} is filled`, async () => {
      const secret = await get(name);
      return text(secret, 'token') && text(secret, 'ca.crt') ? secret : undefined;
    });
  const gone = (name: string) =>
    cluster.eventually(`the Secret ${name} has gone`, async () => (await get(name)) === undefined);
  const isGood = async (token: string) => {
    const request = new Request('https://a/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    return (await server.app.fetch(request, {})).status === 201;
  };

  it('gets a token that never expires, the certificate authority, and the namespace', async () => {
    const account = await makeAccount('app');
    await make('app-token', 'app');
    const secret = await filled('app-token');
    assert.equal(secret.metadata.annotations?.['kubernetes.io/service-account.uid'], account.metadata.uid);
    assert.match(text(secret, 'ca.crt'), /BEGIN CERTIFICATE/);
    assert.equal(text(secret, 'namespace'), 'default');
    assert.equal(await isGood(text(secret, 'token')), true);
    await cluster.edit(secretResource, 'app-token', (changed) => {
      changed.data = { ...changed.data, 'ca.crt': Buffer.from('other').toString('base64') };
    });
    await cluster.eventually('the authority is put right', async () =>
      /BEGIN CERTIFICATE/.test(text(await get('app-token'), 'ca.crt')),
    );
    assert.equal(text(await get('app-token'), 'token'), text(secret, 'token'), 'the token stays');
  });

  it('is deleted with its account, and its token becomes invalid', async () => {
    const token = text(await filled('app-token'), 'token');
    await cluster.until(accounts().delete('app', 'default'));
    await gone('app-token');
    assert.equal(await isGood(token), false);
  });

  it('is deleted if the account does not exist, or was replaced', async () => {
    await make('nobody', 'none');
    await gone('nobody');
    await makeAccount('again');
    await make('older', 'again', {
      metadata: {
        name: 'older',
        namespace: 'default',
        annotations: {
          'kubernetes.io/service-account.name': 'again',
          'kubernetes.io/service-account.uid': 'another',
        },
      },
    });
    await gone('older');
  });

  it('that a user deletes is not created again, and its token becomes invalid', async () => {
    await makeAccount('held');
    await make('held-token', 'held');
    const token = text(await filled('held-token'), 'token');
    assert.equal(await isGood(token), true);
    await cluster.until(cluster.client.resource(secretResource).delete('held-token', 'default'));
    assert.equal(await isGood(token), false);
    await cluster.pass(60_000);
    assert.equal(await get('held-token'), undefined);
  });

  it('of another type is left alone', async () => {
    await make('opaque', 'none', { type: 'Opaque' });
    await cluster.pass(60_000);
    assert.deepEqual((await get('opaque'))?.data ?? {}, {});
  });
});
