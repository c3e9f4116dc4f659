/** The event loop meter of an API server that receives requests over HTTPS. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { LoopMeter } from '../../../src/base/event-loop/loop-meter.ts';
import { Registry } from '../../../src/base/metrics/registry.ts';
import type { Store } from '../../../src/storage/store.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { processorTime, spend } from '../../fixtures/processor-time.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const log = new RecordingLogger();
const metrics = new Registry();
const stop = new AbortController();
let server: HttpsTestServer;

/** Returns a store that blocks the event loop for 300 ms when a ConfigMap `slow` is created. */
function slowStore(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'create' && String(args[0]).endsWith('/configmaps/default/slow')) {
          spend(300);
        }
        return value.apply(target, args);
      };
    },
  });
}

before(async () => {
  // Uses processor time, so that other programs of a busy machine do not count.
  const loopMeter = new LoopMeter({ clock: { ...systemClock, monotonic: processorTime }, log });
  loopMeter.watch(stop.signal);
  server = await startHttpsTestServer({ loopMeter, metrics, wrapStore: slowStore });
});
after(async () => {
  stop.abort();
  await server.stop();
});

async function create(name: string): Promise<number | undefined> {
  const { key, certificate } = await server.clientCertificate('eve', ['system:masters']);
  const outgoing = request({
    host: '127.0.0.1',
    port: server.port,
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps?fieldManager=secret-word',
    headers: { 'content-type': 'application/json', 'audit-id': `id-of-${name}` },
    ...{ ca: server.authority.certificate, key, cert: certificate },
    agent: false,
  });
  outgoing.end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }));
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  await text(incoming);
  return incoming.statusCode;
}

test('a request that blocks the event loop is logged once by its name, and counted', async () => {
  assert.equal(await create('slow'), 201);
  // The client may read the answer before the turn ends.
  const lines = await eventually(systemClock, 'a line in the log', () => {
    const own = log.lines.filter(({ fields }) => fields.id === 'id-of-slow');
    return own.length > 0 && own;
  });
  assert.equal(lines.length, 1, JSON.stringify(log.lines));
  const { level, message, fields } = lines[0] ?? assert.fail();
  assert.deepEqual([level, message], ['warn', 'the event loop was held']);
  const { ms, workMs, ...named } = fields;
  assert.ok(Number(ms) >= Number(workMs), `${ms} is less than ${workMs}`);
  assert.deepEqual(named, {
    kind: 'request',
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps',
    user: 'eve',
    id: 'id-of-slow',
  });
  assert.doesNotMatch(JSON.stringify(log.lines), /secret-word/);
  const page = [...metrics.pieces()].join('');
  assert.match(page, /minik8s_event_loop_held_seconds_count\{kind="request"\} [1-9]/);
});
