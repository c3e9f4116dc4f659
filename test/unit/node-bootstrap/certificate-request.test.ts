import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { CertificateSigningRequest } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { newStatusError } from '../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { Client, ResourceClient, WatchEvent } from '../../../src/client/client.ts';
import { TransportError } from '../../../src/client/transport-error.ts';
import {
  type CertificateOrder,
  requestCertificate,
} from '../../../src/node-bootstrap/certificate-request.ts';
import { clientOrder } from '../../../src/node-bootstrap/node-certificates.ts';
import { signCertificateRequest } from '../../../src/pki/certificate-requests.ts';
import { makeKey } from '../../../src/pki/new-request.ts';
import { createAuthority } from '../../../src/pki/x509.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

type Csr = CertificateSigningRequest;

const now = Date.now();
const hour = 3_600_000;
const authority = await createAuthority('test', now - hour, now + hour);
const other = await createAuthority('other', now - hour, now + hour);
const key = await makeKey();
const order: CertificateOrder = { ...clientOrder('a', key), requester: 'abcdef' };

/** A server with one request, controlled by `script`. */
class Server {
  stored: Csr | undefined;
  creates = 0;
  watches = 0;
  failures: unknown[] = [];
  /** Events of a watch before it ends; undefined keeps the watch open. */
  watch: (() => AsyncIterable<WatchEvent<Csr>>) | undefined;

  readonly client = { resource: () => this.#resource() } as unknown as Client;

  #fail(): void {
    const failure = this.failures.shift();
    if (failure) throw failure;
  }

  #resource(): Partial<ResourceClient<Csr>> {
    return {
      create: async (object) => {
        this.creates++;
        this.#fail();
        if (this.stored) throw newStatusError('AlreadyExists', 'it is there');
        const metadata = { uid: 'u', resourceVersion: '1', ...object.metadata };
        this.stored = { ...object, metadata } as Csr;
        return this.stored;
      },
      get: async () => {
        this.#fail();
        if (!this.stored) throw newStatusError('NotFound', 'it is gone');
        return this.stored;
      },
      watch: ({ signal }) => {
        this.watches++;
        return this.watch?.() ?? open(signal);
      },
    };
  }

  async sign(by = authority): Promise<Csr> {
    assert.ok(this.stored);
    const pem = Buffer.from(this.stored.spec.request, 'base64').toString();
    const usages = this.stored.spec.usages;
    const certificate = await signCertificateRequest(by, pem, {
      usages,
      notBefore: now,
      notAfter: now + hour,
    });
    return { ...this.stored, status: { certificate: Buffer.from(certificate).toString('base64') } };
  }
}

async function* open(signal: AbortSignal): AsyncIterable<WatchEvent<Csr>> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

describe('a request for a certificate', () => {
  let server: Server;
  let clock: FakeClock;
  let waits = 0;
  beforeEach(() => {
    waits = 0;
    server = new Server();
    clock = new FakeClock(now);
  });

  const ask = (signal = new AbortController().signal) =>
    requestCertificate(
      {
        client: server.client,
        clock,
        random: new SeededRandom(1),
        log: silentLogger,
        authority: authority.certificate,
        onWaiting: () => waits++,
      },
      order,
      signal,
    );

  async function until(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 10_000 && !condition(); turn++) await clock.settle();
    assert.ok(condition());
  }

  test('returns a certificate that was signed between two watches', async () => {
    const first = new AbortController();
    const waiting = ask(first.signal);
    await until(() => server.watches === 1);
    first.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
    server.stored = await server.sign();
    assert.match(await ask(), /BEGIN CERTIFICATE/);
    assert.equal(server.creates, 2);
  });

  test('pauses before it repeats a watch that has ended at once', async () => {
    server.watch = async function* () {};
    const asking = ask();
    await until(() => server.watches === 1 && clock.pending === 1);
    await clock.settle();
    assert.equal(server.watches, 1);
    await clock.advance(60_000);
    assert.ok(server.watches >= 4 && server.watches <= 20, String(server.watches));
    server.stored = await server.sign();
    await clock.advance(30_000);
    assert.match(await asking, /BEGIN CERTIFICATE/);
    assert.equal(clock.pending, 0);
  });

  test('is retried while the server is unreachable or overloaded', async () => {
    server.failures = [
      new TransportError('gone', 'refused'),
      newStatusError('ServiceUnavailable', 'no etcd'),
      new Error('the watch was cut in the middle of an event'),
    ];
    const { promise, resolve } = Promise.withResolvers<Csr>();
    server.watch = async function* () {
      yield { type: 'MODIFIED', object: await promise };
    };
    const asking = ask();
    await until(() => clock.pending === 1);
    assert.equal(server.creates, 1);
    await clock.advance(30_000);
    await until(() => server.watches === 1);
    assert.equal(server.creates, 4);
    resolve(await server.sign());
    assert.match(await asking, /BEGIN CERTIFICATE/);
  });

  test('returns the certificate in an event of the watch', async () => {
    const { promise, resolve } = Promise.withResolvers<Csr>();
    server.watch = async function* () {
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: '2' } } as Csr };
      yield { type: 'MODIFIED', object: await promise };
    };
    const asking = ask();
    await until(() => server.watches === 1);
    resolve(await server.sign());
    assert.match(await asking, /BEGIN CERTIFICATE/);
  });

  test('waits for approval only if a pending Node owns the request, not because an automatic approval is late', async () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'n' };
    const { promise, resolve } = Promise.withResolvers<Csr>();
    const { promise: end, resolve: sign } = Promise.withResolvers<Csr>();
    server.watch = async function* () {
      yield { type: 'MODIFIED', object: await promise };
      yield { type: 'MODIFIED', object: await end };
    };
    const asking = ask();
    await until(() => server.watches === 1);
    await clock.advance(60_000);
    assert.equal(waits, 0);
    assert.ok(server.stored);
    const waiting = { ...server.stored, metadata: { ...server.stored.metadata, ownerReferences: [owner] } };
    resolve(waiting);
    await until(() => waits === 1);
    sign({ ...(await server.sign()), metadata: waiting.metadata });
    assert.match(await asking, /BEGIN CERTIFICATE/);
    assert.equal(waits, 1);
  });

  const refusals: readonly [string, (stored: Csr) => Promise<Csr | undefined>, RegExp][] = [
    [
      'denied',
      async (stored) => ({
        ...stored,
        status: { conditions: [{ type: 'Denied', status: 'True', reason: 'No', message: 'not you' }] },
      }),
      /^not you$/,
    ],
    [
      'failed',
      async (stored) => ({
        ...stored,
        status: { conditions: [{ type: 'Failed', status: 'True', reason: 'Bad' }] },
      }),
      /^Bad$/,
    ],
    ['signed by another authority', () => server.sign(other), /does not match the request$/],
    ['removed', async () => undefined, /was deleted before it was approved or denied$/],
  ];
  for (const [what, answer, message] of refusals) {
    test(`fails and is not repeated if it is ${what}`, async () => {
      const first = new AbortController();
      const waiting = ask(first.signal);
      await until(() => server.watches === 1);
      first.abort(new Error('stopped'));
      await waiting.catch(() => undefined);
      assert.ok(server.stored);
      const answered = await answer(server.stored);
      server.watch = async function* () {
        if (answered) yield { type: 'MODIFIED', object: answered };
        else yield { type: 'DELETED', object: server.stored as Csr };
      };
      await assert.rejects(ask(), (error: Error) => {
        assert.equal(error.name, 'RequestRefusedError');
        assert.match(error.message, message);
        return true;
      });
    });
  }

  for (const reason of ['Unauthorized', 'Forbidden', 'Invalid'] as const) {
    test(`fails at once if the server answers ${reason}`, async () => {
      server.failures = [newStatusError(reason, 'no')];
      await assert.rejects(ask(), { name: 'StatusError' });
      assert.equal(clock.pending, 0);
    });
  }
});
