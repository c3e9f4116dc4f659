/**
 * The API server beside Kubernetes' own, with the same work, in one run. Both servers run all the time; each
 * line is measured with one server and then with the other, round after round. Each number is the median of
 * its rounds, so that other load of the machine affects both.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import type { ClientsAnswer, ClientsTask, Done } from './clients.ts';
import { kubeApiserverProgram, kubernetesVersion } from './kube-apiserver.ts';
import { type Amounts, type Line, linesOf } from './lines.ts';
import { type Server, withServers } from './servers.ts';

export interface CompareOptions {
  readonly amounts: Amounts;
  readonly rounds: number;
  /** Lines to measure; all if undefined. */
  readonly only?: RegExp;
}

interface Measured {
  /** Answers or events per second. */
  readonly rate: number;
  /** Microseconds of processor time of the server for one answer, and of its etcd. */
  readonly cost: number;
  readonly etcdCost: number;
  readonly cutOff: number;
}

const fillLanes = 16;
const settleMs = 5000;
const rateGoal = 2;
/** Minimum share of the sent events per second that the watches must receive. */
const keptUp = 0.95;
const memoryGoal = 0.25;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(clients: ChildProcess, task: ClientsTask, what: string): Promise<Done> {
  const ended = new AbortController();
  const gone = once(clients, 'exit', ended).then(() => {
    throw new Error(`the clients ended: ${what}`);
  });
  clients.send(task);
  const [answer] = (await Promise.race([once(clients, 'message', ended), gone])) as [ClientsAnswer];
  gone.catch(() => undefined);
  ended.abort();
  if ('failed' in answer) throw new Error(`${what}: ${answer.failed}`);
  return answer;
}

async function measureLine(clients: ChildProcess, server: Server, line: Line): Promise<Measured> {
  const pids = [server.pid, server.etcdPid];
  const before = pids.map((pid) => usageOf(pid).cpu);
  const { work, inFlight, ms } = line;
  const done = await ask(
    clients,
    { target: server.target, work, inFlight, ms },
    `${server.name}: ${line.what}`,
  );
  const [cost = 0, etcdCost = 0] = pids.map(
    (pid, i) => ((usageOf(pid).cpu - (before[i] ?? 0)) * 1e6) / done.answers,
  );
  return { rate: (done.answers * 1000) / done.ms, cost, etcdCost, cutOff: done.cutOff ?? 0 };
}

async function measure(servers: readonly Server[], options: CompareOptions): Promise<readonly Row[]> {
  const { amounts, rounds, only } = options;
  const lines = linesOf(amounts).filter(({ what }) => !only || only.test(what));
  const clients = fork(join(import.meta.dirname, 'clients.ts'), { stdio: 'inherit' });
  const measured = new Map<string, Measured[]>();
  const memory = () => new Map(servers.map(({ name, pid }) => [name, usageOf(pid).rss / 2 ** 20] as const));
  const rows: Row[] = [];
  try {
    rows.push(memoryRow('memory (RSS) at first', memory()));
    for (const { name, target } of servers) {
      process.stderr.write(`  ${name}: ${amounts.pods} pods …\n`);
      const work = { type: 'fill', pods: amounts.pods } as const;
      await ask(clients, { target, work, inFlight: fillLanes, ms: 0 }, `${name}: fill`);
    }
    await wait(settleMs);
    rows.push(memoryRow(`memory (RSS) with ${amounts.pods} pods`, memory(), memoryGoal));
    // The first round is not counted: frequently used code is not compiled yet.
    for (let round = 0; round <= rounds; round++) {
      process.stderr.write(`  round ${round} of ${rounds} …\n`);
      for (const line of lines) {
        // The order of the servers alternates between rounds.
        for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
          const one = await measureLine(clients, server, line);
          const name = `${server.name} ${line.what}`;
          if (round > 0) measured.set(name, [...(measured.get(name) ?? []), one]);
        }
      }
    }
    rows.push(memoryRow('memory (RSS) at the end', memory(), memoryGoal));
  } finally {
    clients.removeAllListeners('exit');
    clients.kill();
  }
  return [...lines.flatMap((line) => rowsOf(line, measured)), ...rows];
}

function rowsOf({ what, work }: Line, measured: ReadonlyMap<string, readonly Measured[]>): Row[] {
  const of = (name: Server['name'], which: keyof Measured) =>
    median((measured.get(`${name} ${what}`) ?? []).map((one) => one[which]));
  const row = (suffix: string, which: keyof Measured, unit: string): Row => ({
    what: `${what}${suffix}`,
    value: of('minik8s', which),
    unit,
    floor: { what: 'kube-apiserver', value: of('kube-apiserver', which) },
  });
  const rate = row('', 'rate', '/s');
  const twice = rate.value >= rateGoal * (rate.floor?.value ?? 0);
  // Watches cannot receive more events than are sent.
  const all = work.type === 'watch' && rate.value >= (keptUp * work.watchers * 1000) / work.everyMs;
  const target = `≥ ${rateGoal}×${work.type === 'watch' ? ', or all' : ''}`;
  const goal = { target, met: twice || all };
  return [
    { ...rate, ...goal },
    row(': processor', 'cost', 'µs'),
    row(': its etcd', 'etcdCost', 'µs'),
    ...(work.type === 'watch' ? [row(': watches cut off', 'cutOff', '')] : []),
  ];
}

function memoryRow(what: string, memory: ReadonlyMap<Server['name'], number>, goal?: number): Row {
  const value = memory.get('minik8s') ?? Number.NaN;
  const floor = { what: 'kube-apiserver', value: memory.get('kube-apiserver') ?? Number.NaN };
  const met = goal !== undefined && { target: `< ${goal}×`, met: value < goal * floor.value };
  return { what, value, unit: 'MB', floor, ...met };
}

export const compare = (options: CompareOptions): Benchmark => ({
  name: 'compare',
  run: async () => {
    const say = (line: string) => process.stderr.write(`  ${line}\n`);
    const program = await kubeApiserverProgram(say);
    say(`beside kube-apiserver ${kubernetesVersion}`);
    return withServers(program, (servers) => measure(servers, options));
  },
});
