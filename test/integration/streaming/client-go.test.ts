/** A program of client-go over HTTP/2: what controllers use, many requests at once, closed connections. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientGo, unlessClientGo } from '../../fixtures/client-go.ts';
import { type HttpsTestServerOptions, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { startStreamCluster } from './stream-cluster.ts';

const masters = ['system:masters'];

describe('client-go', { skip: unlessClientGo }, () => {
  it('informs, watches, lists in pieces, applies, elects leaders, executes and follows a log', async (t) => {
    const cluster = await startStreamCluster();
    t.after(() => cluster.stop());
    cluster.runtime.logs = async () =>
      (async function* () {
        yield Buffer.from('first\n');
        yield Buffer.from('second\n');
      })();
    const found = await clientGo(await cluster.server.kubeconfigFor('user', masters), 'use');
    const { connections, informers, ...others } = found;
    assert.ok(connections > 0);
    const counts = informers as Readonly<Record<string, number>>;
    assert.deepEqual([counts.pods, counts.nodes, counts.configmaps], [3, 1, 0]);
    const exited = 'command terminated with exit code 3';
    assert.deepEqual(others, {
      informed: 'informed',
      watched: ['ADDED watched', 'DELETED watched'],
      pieces: [10, 10, 5],
      names: 25,
      conflict: true,
      applied: 'b',
      leaders: ['first', 'second'],
      websocket: `typed|err\n|${exited}`,
      spdy: `typed|err\n|${exited}`,
      log: 'first\nsecond\n',
    });
  });

  const start = async (t: { after(fn: () => Promise<void>): void }, options: HttpsTestServerOptions = {}) => {
    const server = await startHttpsTestServer(options);
    t.after(() => server.stop());
    return server.kubeconfigFor('user', masters);
  };

  it('loses no request of fifty goroutines', async (t) => {
    const { connections, ...found } = await clientGo(await start(t), 'load', 50, 5);
    assert.deepEqual(found, { rounds: 250, failures: {}, left: 0 });
  });

  it('loses no POST when the server closes idle connections while requests are on their way', async (t) => {
    // Pauses are about as long as a connection may be idle.
    const idleMs = 3;
    const found = await clientGo(await start(t, { listen: { idleMs } }), 'posts', 500, 2500, 1500);
    assert.deepEqual([found.failures, found.made], [{}, 500]);
    assert.ok(found.connections > 1, 'no connection was closed');
  });
});
