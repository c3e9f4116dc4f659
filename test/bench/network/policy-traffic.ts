/**
 * Traffic between two pods of a node with 1,000 policies over 1,000 pods, compared with the same traffic
 * without policies. Windows with and without rules alternate, so that other load of the machine affects
 * both.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PolicyIndex } from '../../../src/network/policies/plan/policy-index.ts';
import { policyPodOf } from '../../../src/network/policies/plan/policy-pod.ts';
import { renderRemoval, renderTable } from '../../../src/network/policies/plan/render.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { count, makePod, makePolicy, podIP } from './policy-objects.ts';

const node = `minik8s-bench-${process.pid}`;
const pods = [0, 1].map((n) => ({ namespace: `${node}-${n}`, ip: podIP(n + 2), link: `pod${n}` }));
const port = 9001;
const windows = 12;

const inside = (namespace: string, program: string, args: readonly string[], input?: string) =>
  systemExec('ip', ['netns', 'exec', namespace, program, ...args], input === undefined ? {} : { input });

/** Echoes messages that begin with 0, and only reads all others. */
const serverProgram = `
  require('node:net').createServer((socket) => {
    socket.setNoDelay().on('error', () => {});
    socket.once('data', (first) => {
      if (first[0] !== 0) return socket.resume();
      socket.on('data', (data) => socket.write(data)).write(first);
    });
  }).listen(${port}, '0.0.0.0', () => console.log('listening'));
  process.stdin.resume().on('end', () => process.exit());
`;

/** Prints the round trips a second and the bytes a second of two windows. */
const clientProgram = (ip: string) => `
  const net = require('node:net');
  const until = (ms) => { const end = performance.now() + ms; return () => performance.now() < end; };
  const connect = () => new Promise((done) => { const s = net.connect(${port}, '${ip}', () => done(s.setNoDelay())); });
  (async () => {
    const echo = await connect();
    let trips = 0;
    const more = until(500);
    await new Promise((done) => {
      echo.on('data', () => { trips++; more() ? echo.write(Buffer.alloc(1)) : done(); }).write(Buffer.alloc(1));
    });
    echo.destroy();
    const sink = await connect();
    const block = Buffer.alloc(256 * 1024, 1);
    const on = until(500);
    while (on()) if (!sink.write(block)) await new Promise((done) => sink.once('drain', done));
    console.log(trips * 2, (sink.bytesWritten - sink.writableLength) * 2);
    sink.destroy();
  })();
`;

async function connectPods(): Promise<void> {
  for (const { namespace, ip, link } of pods) {
    await systemExec('ip', ['netns', 'add', namespace]);
    const veth = ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace];
    await inside(node, 'ip', veth);
    await inside(node, 'ip', ['link', 'set', link, 'up']);
    await inside(node, 'ip', ['address', 'add', '169.254.1.1/32', 'dev', link]);
    await inside(node, 'ip', ['route', 'add', `${ip}/32`, 'dev', link]);
    await inside(node, 'sysctl', ['-qw', `net.ipv4.conf.${link}.proxy_arp=1`]);
    await inside(namespace, 'ip', ['address', 'add', `${ip}/32`, 'dev', 'eth0']);
    await inside(namespace, 'ip', ['link', 'set', 'eth0', 'up']);
    await inside(namespace, 'ip', ['route', 'add', 'default', 'dev', 'eth0']);
  }
}

function tables(): string {
  const index = new PolicyIndex();
  index.setNamespace('default', {});
  for (let n = 0; n < count; n++) index.setLocal(podIP(n + 2), policyPodOf(makePod(n)));
  for (let n = 0; n < count; n++) index.setPolicy(`default/policy-${n}`, makePolicy(n));
  return renderTable('ip', index.tables('ip'));
}

/** The floor follows connections too, as every node does for its Services. */
const tracking =
  'table ip bench { chain f { type filter hook forward priority 0; ct state invalid counter; }\n}\n';

async function measure(): Promise<Row[]> {
  const [server, client] = pods as [(typeof pods)[0], (typeof pods)[0]];
  const script = tables();
  await inside(node, 'nft', ['-f', '-'], tracking);
  const process_ = spawn('ip', ['netns', 'exec', server.namespace, process.execPath, '-e', serverProgram], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(process_.stdout, 'data');
  const found = {
    with: { trips: [] as number[], bytes: [] as number[] },
    without: { trips: [] as number[], bytes: [] as number[] },
  };
  for (let window = 0; window < windows; window++) {
    for (const which of window % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      await inside(node, 'nft', ['-f', '-'], which === 'with' ? script : renderRemoval('ip'));
      const { stdout } = await inside(client.namespace, process.execPath, ['-e', clientProgram(server.ip)]);
      const [trips = 0, bytes = 0] = stdout.trim().split(' ').map(Number);
      found[which].trips.push(trips);
      found[which].bytes.push(bytes);
    }
  }
  process_.stdin.end();
  await once(process_, 'exit');
  const row = (what: string, unit: string, value: number, floor: number): Row => ({
    ...{ what, unit, value, floor: { what: 'without policies', value: floor } },
    ...{ target: '≥ 0.95× floor', met: value >= 0.95 * floor },
  });
  const { with: own, without } = found;
  return [
    row('round trips of a connection', '/s', median(own.trips), median(without.trips)),
    row('throughput of a connection', 'MB/s', median(own.bytes) / 1e6, median(without.bytes) / 1e6),
  ];
}

export const policyTraffic: Benchmark = {
  name: 'policy-traffic',
  async run() {
    await systemExec('ip', ['netns', 'add', node]);
    try {
      await inside(node, 'sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
      await connectPods();
      return await measure();
    } finally {
      for (const { namespace } of pods)
        await systemExec('ip', ['netns', 'delete', namespace]).catch(() => {});
      await systemExec('ip', ['netns', 'delete', node]);
    }
  },
};
