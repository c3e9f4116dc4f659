/** API server that receives the requests, in a process of its own, with its real listener and a real etcd. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';
import { startHttpsTestServer } from '../fixtures/https-api-server.ts';
import { RecordingLogger } from '../fixtures/recording-logger.ts';
import { type Stall, watchStalls } from './stalls.ts';

export type FromServer =
  | {
      readonly ready: {
        readonly port: number;
        readonly ca: string;
        readonly key: string;
        readonly cert: string;
      };
    }
  | { readonly stall: Stall; readonly limit: number }
  | { readonly errors: readonly string[] };

const stallMs = 200;

const tell = (message: FromServer) => process.send?.(message);

const directory = mkdtempSync(join(tmpdir(), 'minik8s-fuzz-'));
const stopping = new AbortController();
const etcd = await startEmbeddedEtcd({
  binary: etcdBinary,
  earlierBinary: etcdBinary,
  dataDir: join(directory, 'etcd'),
  clock: systemClock,
  log: silentLogger,
  signal: stopping.signal,
});
const { endpoints, keepaliveMs } = etcd;
const store = await connectEtcd({
  endpoints,
  keepaliveMs,
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
});
const log = new RecordingLogger();
const server = await startHttpsTestServer({ log, wrapStore: () => store });
const { key, certificate: cert } = await server.clientCertificate('fuzz', ['system:masters']);
// The parent process requests the end on an interrupt.
process.on('SIGINT', () => undefined);
watchStalls(stallMs, (stall) => tell({ stall, limit: stallMs }));
tell({ ready: { port: server.port, ca: server.authority.certificate, key, cert } });

// The parent process was killed.
process.on('disconnect', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(1);
});
process.on('message', async (message) => {
  if (message === 'errors')
    tell({ errors: log.lines.filter(({ level }) => level === 'error').map((line) => JSON.stringify(line)) });
  if (message !== 'stop') return;
  await server.stop();
  stopping.abort();
  await etcd.stop();
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
