/** Stopping the agent's own server while a silent client is connected. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { replaceable } from '../../../src/base/current.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { serveKubelet } from '../../../src/kubelet/server/server.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { reportSources } from '../../fixtures/agent-reports.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';

test('a node agent that stops closes a connection whose TLS handshake is not over', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-server-stop-'));
  t.after(() => rm(directory, { recursive: true }));
  const credentials = await openCredentials(directory, Date.now);
  const hosts = ['127.0.0.1'];
  const names = { file: 's', commonName: 'node', organizations: [], hosts };
  const identity = replaceable(await credentials.leaf({ ...names, usages: ['server'] }));
  const stop = new AbortController();
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const running = serveKubelet(
    {
      hosts,
      port: 0,
      tls: { identity, clientCA: credentials.authority.certificate },
      access: { require: async () => undefined },
      reports: reportSources(() => []),
      runtime: new SimulatedRuntime({ clock: systemClock, random: new SeededRandom(1), images: new Map() }),
      clock: systemClock,
      log: silentLogger,
      pods: () => [],
      nodeIP: '127.0.0.1',
      observe: () => ({ sandboxes: [], containers: [] }),
      onListening: resolve,
    },
    stop.signal,
  );
  const [host = ''] = hosts;
  const port = await listening;
  const silent = connectTcp({ host, port });
  t.after(() => silent.destroy());
  silent.on('error', () => undefined);
  await once(silent, 'connect');
  // The first connection has been accepted once the server answers on a second.
  const other = connect({ host, port, ca: credentials.authority.certificate });
  other.on('error', () => undefined);
  await once(other, 'secureConnect');
  stop.abort();
  await running;
});
