import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { certificateSigningRequestResource } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { isNotFound } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { createInformerFactory } from '../../../src/client/shared-informer.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { csrCleaner } from '../../../src/controllers/certificates/csr-cleaner.ts';
import { tokenCleaner } from '../../../src/controllers/certificates/token-cleaner.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const hour = 3600 * 1000;
let server: TestServer;
let client: Client;
const clock = new FakeClock();
const stopping = new AbortController();
let running: Promise<void>;

before(async () => {
  server = await startTestServer();
  client = createClient(inProcessTransport(server.handlerFor(admin)));
  const base = { client, random: new SeededRandom(5), log: silentLogger };
  // The controllers' own timers use the clock that the test moves; nothing else does.
  const informers = createInformerFactory({ ...base, clock: server.clock });
  const manager = createManager({
    ...base,
    kinds: server.kinds,
    clock,
    events: { event: () => undefined },
    informers,
  });
  manager.add(tokenCleaner);
  manager.add(csrCleaner);
  running = manager.run(stopping.signal);
});
after(async () => {
  stopping.abort();
  await running;
  await server.stop();
});

const token = (id: string, data: Record<string, string>, type = 'bootstrap.kubernetes.io/token') =>
  client.resource(secretResource).create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type,
    stringData: data,
  });
const there = (id: string) =>
  client
    .resource(secretResource)
    .get(`bootstrap-token-${id}`, 'kube-system')
    .then(
      () => true,
      (error) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
const at = (ms: number) => new Date(clock.now() + ms).toISOString();
/** Waits until a timer is set for that moment: the controller has then seen the existing objects. */
const armed = (ms: number) =>
  eventually(server.clock, `a timer in ${ms} ms`, async () => clock.nextIn === ms);

it('deletes only the token that has expired', async () => {
  await token('forevr', {});
  await token('opaque', { expiration: at(-hour) }, 'Opaque');
  await token('inhour', { expiration: at(hour) });
  await armed(hour);
  await clock.advance(hour - 1);
  assert.equal(await there('inhour'), true);
  await clock.advance(1);
  await eventually(server.clock, 'the token to go', async () => !(await there('inhour')));
  assert.equal(await there('forevr'), true);
  assert.equal(await there('opaque'), true);
});

it('deletes at once tokens that have expired, or whose expiration cannot be read', async () => {
  await token('isover', { expiration: at(-1) });
  await token('noread', { expiration: 'tomorrow' });
  await eventually(
    server.clock,
    'both tokens are deleted',
    async () => !(await there('isover')) && !(await there('noread')),
  );
});

it('keeps a token whose expiration was extended in the meantime', async () => {
  const secret = await token('longer', { expiration: at(hour) });
  await armed(hour);
  const expiration = Buffer.from(at(2 * hour)).toString('base64');
  await client.resource(secretResource).update({ ...secret, data: { ...secret.data, expiration } });
  // The event reaches the controller.
  await server.clock.advance(5);
  await clock.advance(hour);
  await armed(hour);
  assert.equal(await there('longer'), true);
  await clock.advance(hour);
  await eventually(server.clock, 'the token to go', async () => !(await there('longer')));
});

it('deletes an undecided CertificateSigningRequest after a day', async () => {
  const pem = await makeRequest(await makeKey(), { commonName: 'alice' });
  const requests = client.resource(certificateSigningRequestResource);
  const { metadata } = await requests.create({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'alice' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  const left = Date.parse(metadata.creationTimestamp) + 24 * hour - clock.now();
  await armed(left);
  await clock.advance(left - 1);
  assert.equal((await requests.list()).items.length, 1);
  await clock.advance(1);
  await eventually(server.clock, 'the request to go', async () => (await requests.list()).items.length === 0);
});
