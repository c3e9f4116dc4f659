/**
 * Cluster DNS under load on one node: dnsperf queries the names of 1,000 Services, first as fast as possible,
 * then 10,000 times a second to measure latency. The floor is the same client with a bare UDP echo in Node.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { createClusterZone } from '../../../src/cluster-dns/cluster-zone.ts';
import { DnsCounts } from '../../../src/cluster-dns/dns-counts.ts';
import { systemExchange } from '../../../src/cluster-dns/exchange.ts';
import { createForwarder } from '../../../src/cluster-dns/forwarder.ts';
import { listenDns } from '../../../src/cluster-dns/listeners.ts';
import { createResponder } from '../../../src/cluster-dns/responder.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { makeNamespace, makeService } from '../../unit/cluster-dns/objects.ts';
import type { Benchmark, Row } from '../report.ts';

const services = 1000;
const seconds = 5;
const wantedRate = 10_000;
const address = '127.10.0.1';
const port = 5353;

const serviceName = (n: number) => `web-${n}.shop.svc.cluster.local`;

function makeResponder() {
  const informers = new ScriptedInformers();
  const zone = createClusterZone({
    informers,
    domain: 'cluster.local',
    nameServer: '10.96.0.10',
    networks: ['10.96.0.0/16'],
    hostAddresses: () => undefined,
  });
  informers.put(namespaceResource, makeNamespace('shop'));
  for (let n = 0; n < services; n++) {
    informers.put(serviceResource, makeService(`web-${n}`, { clusterIP: `10.96.${n >> 8}.${n & 255}` }));
  }
  const forwarder = createForwarder({
    servers: async () => [],
    exchange: systemExchange,
    messageId: () => 0,
    clock: systemClock,
    log: silentLogger,
  });
  const counts = new DnsCounts(systemClock);
  return createResponder({ zone, forwarder, random: Math.random, clock: systemClock, counts });
}

interface Load {
  /** Answers per second. */
  readonly rate: number;
  readonly lost: number;
  /** 99th percentile in milliseconds; NaN if it was not requested. */
  readonly p99: number;
}

async function load(file: string, ...flags: string[]): Promise<Load> {
  const where = ['-s', address, '-p', `${port}`, '-d', file, '-l', `${seconds}`];
  const { stdout } = await systemExec('dnsperf', [...where, ...flags], { timeoutMs: (seconds + 20) * 1000 });
  const number = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
  const times = [...stdout.matchAll(/^> NOERROR \S+ A ([\d.]+)$/gm)].map((match) => Number(match[1]) * 1000);
  times.sort((a, b) => a - b);
  return {
    rate: number(/Queries per second:\s+([\d.]+)/),
    lost: number(/Queries lost:\s+(\d+)/),
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
  };
}

async function echo(): Promise<() => void> {
  const socket = createSocket('udp4');
  const isAnswer = 0x80;
  socket.on('message', (message, { address: client, port: clientPort }) => {
    message[2] = (message[2] ?? 0) | isAnswer;
    socket.send(message, clientPort, client);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return () => socket.close();
}

async function run(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-bench-dns-'));
  try {
    const file = join(directory, 'queries');
    await writeFile(file, Array.from({ length: services }, (_, n) => `${serviceName(n)} A\n`).join(''));
    const fast = ['-c', '8', '-q', '100'];
    const steady = ['-c', '8', '-v', '-Q', `${wantedRate}`];

    const stopEcho = await echo();
    const [echoFast, echoSteady] = [await load(file, ...fast), await load(file, ...steady)];
    stopEcho();

    const listening = await listenDns({
      addresses: [address],
      port,
      respond: makeResponder(),
      log: silentLogger,
    });
    const [dnsFast, dnsSteady] = [await load(file, ...fast), await load(file, ...steady)];
    await listening.close();
    return [
      {
        what: 'cluster DNS: answers of one node',
        value: dnsFast.rate,
        unit: '/s',
        floor: { what: 'UDP echo in Node', value: echoFast.rate },
        target: `> ${wantedRate}`,
        met: dnsFast.rate > wantedRate,
      },
      {
        what: `cluster DNS: p99 at ${wantedRate}/s`,
        value: dnsSteady.p99,
        unit: 'ms',
        floor: { what: 'UDP echo in Node', value: echoSteady.p99 },
        target: '< 5',
        met: dnsSteady.p99 < 5,
      },
      {
        what: `cluster DNS: lost answers of ${wantedRate * seconds}`,
        value: dnsSteady.lost,
        unit: '',
        target: '0',
        met: dnsSteady.lost === 0,
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export const dns: Benchmark = { name: 'dns', run };
