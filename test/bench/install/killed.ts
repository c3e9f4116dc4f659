/**
 * Kills one of three masters and its etcd member, and measures the longest time without an acknowledged
 * write.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { connectEtcd } from '../../../src/storage/etcd.ts';
import { EtcdCluster } from '../../e2e/harness/etcd-cluster.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { JoinedMaster } from '../../e2e/harness/joined-masters.ts';
import { Master, ready } from '../../e2e/harness/masters.ts';
import { adminTransport } from '../admin-transport.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { longestGap, type Write } from './longest-gap.ts';

const rounds = 3;
/** Time in milliseconds between a kill and the end of its measurement. */
const calmMs = 5_000;

/** Three masters, each with a member of etcd on the same machine. */
export interface ThreeMasters {
  /** Writes an object at any master that answers. */
  readonly write: Write;
  /** Writes a key to etcd itself, at any member that answers. */
  readonly writeEtcd: Write;
  /** Kills a master and its member without a warning. */
  kill(index: number): Promise<void>;
  /** Starts both again, and resolves when they answer. */
  revive(index: number): Promise<void>;
}

/** Returns a write that tries the next master after a failure. */
function inTurn(writes: readonly Write[]): Write {
  let turn = 0;
  return async () => {
    try {
      return await Promise.race([
        writes[turn % writes.length]?.(),
        pause(1_000).then(() => Promise.reject(new Error('slow'))),
      ]);
    } catch (error) {
      turn++;
      throw error;
    }
  };
}

/**
 * Returns a write that calls all of `writes` and resolves with the first acknowledgement; each of them has at
 * most one request in flight.
 */
function atAny(writes: readonly Write[]): Write {
  const pending = new Map<Write, Promise<unknown>>();
  const begun = (write: Write) => {
    const request = pending.get(write) ?? write().finally(() => pending.delete(write));
    pending.set(write, request);
    return request;
  };
  return () => Promise.any(writes.map(begun));
}

/** Starts masters on an external etcd, whose members run on the same hosts. */
async function onExternalEtcd(cleanups: (() => Promise<void>)[]): Promise<ThreeMasters> {
  const hosts = await Hosts.start({ after: (fn) => cleanups.push(fn) }, 3, { docker: false });
  const etcd = EtcdCluster.over(hosts.all);
  await etcd.start();
  const masters = hosts.all.map((host, index) => new Master(host, `m${index}`, 6443, [etcd.flag]));
  for (const { role } of masters) await role.start(ready);
  const network = { clock: systemClock, random: systemRandom, log: silentLogger };
  const endpoints = etcd.members.map((member) => etcd.endpoint(member));
  const store = await connectEtcd({ endpoints, ...network });
  cleanups.push(() => store.close());
  return {
    write: inTurn(masters.map(objectAt)),
    writeEtcd: inTurn([() => store.create(`/bench/${randomUUID()}`, Buffer.from('x'))]),
    async kill(index) {
      await Promise.all([masters[index]?.role.end('SIGKILL'), etcd.kill(index)]);
    },
    async revive(index) {
      await etcd.restart(index);
      await masters[index]?.role.start(ready);
    },
  };
}

/** Starts masters that join one another, each with a member of the embedded etcd. */
async function onEtcdInside(cleanups: (() => Promise<void>)[]): Promise<ThreeMasters> {
  const hosts = await Hosts.start({ after: (fn) => cleanups.push(fn) }, 3, { docker: false });
  const masters = hosts.all.map((_, index) => new JoinedMaster(hosts, index));
  const [first, ...others] = masters;
  if (!first) throw new Error('there is no master');
  await first.startWith(undefined);
  for (const other of others) await other.startWith(await first.invite());
  await first.untilAllVote(3);
  const network = { clock: systemClock, random: systemRandom, log: silentLogger };
  const members = masters.map(async ({ dataDir }): Promise<Write> => {
    const store = await connectEtcd({ endpoints: [`unix:${join(dataDir, 'etcd/client:0')}`], ...network });
    cleanups.push(() => store.close());
    return () => store.create(`/bench/${randomUUID()}`, Buffer.from('x'));
  });
  return {
    write: inTurn(masters.map(objectAt)),
    writeEtcd: atAny(await Promise.all(members)),
    kill: async (index) => masters[index]?.kill(),
    revive: async (index) => masters[index]?.startWith(undefined),
  };
}

function objectAt(master: Master): Write {
  const maps = createClient(adminTransport(`${master.dataDir}/admin.conf`)).resource(configMapResource);
  const named = () => ({ name: `w-${randomUUID()}`, namespace: 'default' });
  return () => maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named(), data: {} });
}

async function measured(masters: ThreeMasters, form: string): Promise<readonly Row[]> {
  const [objects, keys]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    // Every round kills another master, so that one of the rounds kills etcd's leader and causes an election.
    const kill = async () => {
      await pause(1_000);
      await masters.kill(round % 3);
    };
    const killing = kill();
    const both = await Promise.all([
      longestGap(masters.write, () => killing, calmMs),
      longestGap(masters.writeEtcd, () => killing, calmMs),
    ]);
    objects.push(both[0]);
    keys.push(both[1]);
    await masters.revive(round % 3);
  }
  const worst = Math.max(...objects);
  return [
    {
      what: `one of three masters killed (${form}): longest of ${rounds} gaps between writes`,
      value: worst,
      unit: 'ms',
      floor: { what: 'etcd itself', value: Math.max(...keys) },
      target: '< 3000',
      met: worst < 3000,
    },
    {
      what: `one of three masters killed (${form}): median of ${rounds} gaps between writes`,
      value: median(objects),
      unit: 'ms',
    },
  ];
}

const forms = { 'embedded etcd': onEtcdInside, 'external etcd': onExternalEtcd };

async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [form, start] of Object.entries(forms)) {
    const cleanups: (() => Promise<void>)[] = [];
    try {
      rows.push(...(await measured(await start(cleanups), form)));
    } finally {
      for (const cleanup of cleanups.toReversed()) await cleanup();
    }
  }
  return rows;
}

export const killed: Benchmark = { name: 'killed', run };
