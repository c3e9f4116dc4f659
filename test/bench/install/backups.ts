/** Backup and restoration of 10,000 objects, beside etcd's own programs on the same data. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { memberName, peerUrl } from '../../../src/storage/etcd-process.ts';
import { Cluster, executable } from '../../e2e/harness/cluster.ts';
import { Host } from '../../e2e/harness/host.ts';
import { etcdBinary } from '../../fixtures/etcd-binary.ts';
import { adminTransport } from '../admin-transport.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';

const objects = 10_000;
const rounds = 5;
const version = '3.7.3';
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s');

/** Returns the path of etcdctl. Builds it from its Go module if it does not exist, which takes minutes. */
async function etcdctl(): Promise<string> {
  const program = join(cache, `etcdctl-${version}`);
  if (existsSync(program)) return program;
  process.stderr.write(`building etcdctl ${version} …\n`);
  mkdirSync(cache, { recursive: true });
  const build = join(cache, `etcdctl-build-${process.pid}`);
  mkdirSync(build);
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-mod=mod -buildvcs=false' };
  const go = (...args: string[]) => systemExec('go', ['-C', build, ...args], { env, timeoutMs: 900_000 });
  const module = 'go.etcd.io/etcd/etcdctl/v3';
  try {
    // `go install` rejects the module: its own go.mod replaces modules.
    await go('mod', 'init', 'etcdctl');
    await go('get', `${module}@v${version}`);
    await go('build', '-trimpath', '-ldflags', '-s -w', '-o', 'built', module);
    renameSync(join(build, 'built'), program);
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
  return program;
}

/** Creates objects of the size of a small pod. */
async function fill(cluster: Cluster): Promise<void> {
  const maps = createClient(adminTransport(cluster.kubeconfig)).resource(configMapResource);
  const data = { content: 'x'.repeat(1000) };
  let next = 0;
  const write = async () => {
    for (let n = next++; n < objects; n = next++)
      await maps.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `m${n}`, namespace: 'default' },
        data,
      });
  };
  await Promise.all(Array.from({ length: 32 }, write));
}

const limit = { timeoutMs: 120_000 };

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  const program = await etcdctl();
  try {
    const host = await Host.start({ after: (fn) => cleanups.push(fn) });
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) }, { host });
    await fill(cluster);
    const place = (name: string) => join(host.directory, name);
    const minik8s = (...args: string[]) => systemExec(executable, ['backup', ...args], limit);
    const dir = place('backups');
    const create = ['create', '--data-dir', cluster.dataDir, '--dir', dir];
    let path = '';
    const created = await timed(rounds, async () => {
      path = (await minik8s(...create)).stdout.split(': ')[0] ?? '';
    });
    const socket = `unix://${join(cluster.dataDir, 'etcd/client:0')}`;
    const snapshot = place('snapshot.db');
    const saved = await timed(rounds, async () => {
      rmSync(snapshot, { force: true });
      await systemExec(program, ['--endpoints', socket, 'snapshot', 'save', snapshot], limit);
    });
    const restored = await timed(rounds, async (round) => {
      await minik8s('restore', path, '--data-dir', place(`restored-${round}`));
    });
    const least = String(Date.now() * 100);
    const floor = await timed(rounds, async (round) => {
      const to = place(`etcd-${round}`);
      await systemExec(
        etcdBinary,
        ['restore-backup', snapshot, to, memberName, peerUrl, 'bench', least],
        limit,
      );
    });
    const verified = await timed(3, () => minik8s('verify', path, '--data-dir', place('restored-0')));
    return rowsOf({ created, saved, restored, floor, verified });
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

type Times = Readonly<Record<'created' | 'saved' | 'restored' | 'floor' | 'verified', readonly number[]>>;

function rowsOf({ created, saved, restored, floor, verified }: Times): readonly Row[] {
  const row = (what: string, times: readonly number[], most: number, least: Row['floor']): Row => ({
    ...{ what: `${what} of ${objects} objects`, value: median(times), unit: 'ms' },
    ...(least && { floor: least }),
    ...{ target: `< ${most}`, met: median(times) < most },
  });
  return [
    row('backup create', created, 3000, { what: 'etcdctl snapshot save', value: median(saved) }),
    row('backup restore', restored, 10_000, { what: "etcd's own restoration", value: median(floor) }),
    { what: `backup verify of ${objects} objects`, value: median(verified), unit: 'ms' },
  ];
}

export const backups: Benchmark = { name: 'backups', run };
