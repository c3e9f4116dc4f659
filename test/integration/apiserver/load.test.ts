/** Too many requests, and clients that do not read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createHttp2Transport } from '../../../src/client/http2-transport.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { as, callWith, maps, masters, type Reply, start, turn, until } from './load-clients.ts';

const nodes = ['system:nodes'];

/** Returns a store in which writes to keys that contain this word wait until the test releases them. */
function gatedStore() {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const wrapStore = (store: Store): Store => ({
    ...store,
    async create(key, value, claims) {
      if (key.includes('gated')) {
        waiting++;
        await gate.promise;
      }
      return store.create(key, value, claims);
    },
  });
  return { wrapStore, letGo: gate.resolve, waiting: () => waiting };
}

function assertTooMany({ status, headers, body }: Reply): void {
  assert.equal(status, 429);
  assert.ok(Number(headers['retry-after']) > 0);
  const { kind, reason, code } = JSON.parse(body) as Status;
  assert.deepEqual([kind, reason, code], ['Status', 'TooManyRequests', 429]);
}

describe('too many requests', () => {
  it('of one user are rejected while other users, nodes, heartbeats and probes are answered', async (t) => {
    const { wrapStore, letGo, waiting } = gatedStore();
    const server = await start(t, { wrapStore, limits: { requests: 4, watches: 2 } });
    const greedy = await as(server, 'greedy', masters);
    const create = (user: typeof greedy, name: string) => user.call('POST', maps, { metadata: { name } });
    const held = [create(greedy, 'gated-1'), create(greedy, 'gated-2')];
    await until(() => waiting() === 2);
    assertTooMany(await create(greedy, 'gated-3'));
    const other = await as(server, 'other', masters);
    assert.equal((await other.call('GET', maps)).status, 200);
    held.push(create(other, 'gated-4'));
    const third = await as(server, 'third', masters);
    held.push(create(third, 'gated-5'));
    await until(() => waiting() === 4);
    assertTooMany(await third.call('GET', maps));

    const node = await as(server, 'system:node:n', nodes);
    assert.equal((await node.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })).status, 201);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const lease = { metadata: { name: 'n', namespace: 'kube-node-lease' }, spec: { holderIdentity: 'n' } };
    const made = await node.call('POST', leases, lease);
    assert.equal(made.status, 201, made.body);
    const renewed = await node.call('PUT', `${leases}/n`, JSON.parse(made.body));
    assert.equal(renewed.status, 200, renewed.body);
    assert.equal((await node.call('GET', '/api/v1/services')).status, 200);
    const anybody = callWith(server, {});
    for (const path of ['/livez', '/readyz']) assert.equal((await anybody.call('GET', path)).status, 200);

    letGo();
    assert.deepEqual(
      (await Promise.all(held)).map(({ status }) => status),
      [201, 201, 201, 201],
    );
    assert.equal((await third.call('GET', maps)).status, 200);
  });

  it('for logs are counted as requests, or as streams if the logs are followed', async (t) => {
    const { wrapStore, letGo, waiting } = gatedStore();
    const server = await start(t, { wrapStore, limits: { requests: 2, watches: 1 } });
    const user = await as(server, 'reader', masters);
    const held = user.call('POST', maps, { metadata: { name: 'gated' } });
    await until(() => waiting() === 1);
    const log = '/api/v1/namespaces/default/pods/none/log';
    assertTooMany(await user.call('GET', log));
    assertTooMany(await user.call('GET', `${log}?follow=false`));
    assert.equal((await user.call('GET', `${log}?follow=true`)).status, 404);
    letGo();
    assert.equal((await held).status, 201);
    assert.equal((await user.call('GET', log)).status, 404);
  });

  it('do not delay the control plane itself', async (t) => {
    const server = await start(t, { limits: { requests: 1, watches: 1 } });
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.call('GET', maps)));
    assert.ok(answers.every(({ status }) => status === 200));
  });

  it('to watch are refused until one ends', async (t) => {
    const server = await start(t, { limits: { requests: 4, watches: 2 } });
    const user = await as(server, 'watcher', masters);
    const watch = () => user.open(`${maps}?watch=true`);
    const [first, second, third] = [await watch(), await watch(), await watch()];
    assert.deepEqual(
      [first, second, third].map(({ response }) => response.statusCode),
      [200, 200, 429],
    );
    third.response.resume();
    assert.equal((await user.call('GET', maps)).status, 200);
    const other = await as(server, 'other', masters);
    const others = await other.open(`${maps}?watch=true`);
    assert.equal(others.response.statusCode, 200);
    first.response.on('error', () => {});
    first.hangUp();
    for (let status: number | undefined = 429; status === 429; await turn()) {
      const again = await watch();
      status = again.response.statusCode;
      again.response.on('error', () => {});
      again.hangUp();
    }
    for (const { response, hangUp } of [second, others]) {
      response.on('error', () => {});
      hangUp();
    }
  });
});

describe('a client that does not read', () => {
  const large = (number: number) => ({
    metadata: { name: `large-${number}` },
    data: { text: 'x'.repeat(900_000) },
  });
  const fill = async (server: HttpsTestServer) => {
    for (let number = 0; number < 20; number++) {
      const made = await server.call('POST', maps, large(number));
      await server.cache.waitUntil(Number(made.json().metadata.resourceVersion));
    }
  };

  it('of a watch has its connection ended', async (t) => {
    const clock = new FakeClock();
    const server = await start(t, { clock });
    const user = await as(server, 'deaf', masters);
    const { response } = await user.open(`${maps}?watch=true`);
    response.pause();
    await fill(server);
    const ended = new Promise((resolve) => response.once('close', resolve));
    let failure: NodeJS.ErrnoException | undefined;
    response.on('error', (error) => {
      failure = error;
    });
    for (let i = 0; i < 3; i++) await clock.advance(31_000);
    response.resume();
    await ended;
    assert.equal(failure?.code, 'ECONNRESET');
  });

  it('of a watch over a shared connection loses only that watch', async (t) => {
    const clock = new FakeClock();
    const server = await start(t, { clock });
    const { key, certificate } = await server.clientCertificate('agent', masters);
    const url = `https://127.0.0.1:${server.port}`;
    const ca = server.authority.certificate;
    const transport = createHttp2Transport({ server: url, ca, key, cert: certificate, clock: systemClock });
    t.after(() => transport.close());
    const { body } = await transport.request({ method: 'GET', path: `${maps}?watch=true` });
    await fill(server);
    for (let i = 0; i < 3; i++) await clock.advance(31_000);
    await assert.rejects(async () => {
      for await (const _ of body);
    });
    assert.equal((await transport.request({ method: 'GET', path: '/livez' })).status, 200);
  });

  it('of a list has its connection ended', async (t) => {
    const server = await start(t, { listen: { stalledMs: 1000 }, limits: { requests: 2, watches: 2 } });
    await fill(server);
    const user = await as(server, 'deaf', masters);
    const { response } = await user.open(maps);
    response.pause();
    let failure: NodeJS.ErrnoException | undefined;
    response.on('error', (error) => {
      failure = error;
    });
    const ended = new Promise((resolve) => response.once('close', resolve));
    const quiet = await user.open(`/api/v1/namespaces/default/secrets?watch=true`);
    let quietEnded = false;
    quiet.response.on('error', () => {});
    quiet.response.once('close', () => {
      quietEnded = true;
    });
    quiet.response.resume();
    // A client that does not read receives no report, but its slot is free again for another request.
    while ((await user.call('GET', `${maps}/large-1`)).status === 429) await turn();
    response.resume();
    await ended;
    assert.equal(failure?.code, 'ECONNRESET');
    assert.equal(quietEnded, false);
    quiet.hangUp();
  });
});
