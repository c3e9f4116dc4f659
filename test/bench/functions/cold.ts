/**
 * Stages of the first call of a function, compared with starting the same containers by the bare Docker API.
 */
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Fn } from '../../../src/features/functions/api/function.ts';
import { type Created, dockerApi, removeContainers, runPair } from '../docker-api.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import { type Runtime, runtimes, type World, withWorld } from './world.ts';

/** Stages that are visible from outside, in this order. */
const stages = ['requested', 'created', 'bound to a node', 'running', 'answered'] as const;
type Stage = (typeof stages)[number];
const crowd = 50;

/** Returns the milliseconds from the call to each stage. */
async function coldCall(world: World, name: string): Promise<ReadonlyMap<Stage, number>> {
  const seen = new Map<Stage, number>();
  let began = 0;
  const note = (stage: Stage) => {
    if (began > 0 && !seen.has(stage)) seen.set(stage, performance.now() - began);
  };
  const ends = [
    await world.watch(
      `/apis/minik8s.io/v1/namespaces/default/functions?fieldSelector=metadata.name%3D${name}`,
      ({ status }: Fn) => Object.keys(status?.demand ?? {}).length > 0 && note('requested'),
    ),
    await world.watch(
      `/api/v1/namespaces/default/pods?labelSelector=minik8s.io%2Ffunction%3D${name}`,
      ({ spec, status }: Pod) => {
        note('created');
        if (spec.nodeName) note('bound to a node');
        if (status?.containerStatuses?.some(({ state }) => state?.running)) note('running');
      },
    ),
  ];
  began = performance.now();
  const called = await world.call({
    target: world.gateway,
    path: `/function/${name}`,
    body: '{}',
    callers: 1,
    ms: 0,
  });
  note('answered');
  for (const end of ends) end();
  if (called.failures > 0) throw new Error(`a cold call failed: ${called.why}`);
  return seen;
}

/** Starts a pause container and the function's container in its network, until the function answers. */
async function bareStart({ host, call }: World, image: string): Promise<number> {
  const socket = host.dockerSocket;
  const began = performance.now();
  const ids = await runPair(image, socket, ['/bin/sleep', '1000']);
  interface Inspected extends Created {
    readonly NetworkSettings: { readonly IPAddress: string };
  }
  const { NetworkSettings } = await dockerApi<Inspected>(
    'GET',
    `/containers/${ids[1]}/json`,
    undefined,
    socket,
  );
  const target = { host: NetworkSettings.IPAddress, port: 8080 };
  await call({ target, path: '/', body: '{}', callers: 1, ms: 0, insist: true });
  const took = performance.now() - began;
  await removeContainers(ids, socket);
  return took;
}

async function measureRuntime(world: World, runtime: Runtime, rounds: number, pool = false): Promise<Row[]> {
  const name = `cold-${runtime}`;
  await world.create(name, runtime, { idleSeconds: 1 });
  const image = (await world.pods(name))[0]?.spec.containers[0]?.image ?? '';
  const calls: ReadonlyMap<Stage, number>[] = [];
  const bare: number[] = [];
  // The first round is not counted.
  for (let round = 0; round <= rounds; round++) {
    await world.untilGone(name);
    if (pool) await world.untilWaiting(runtime, 2);
    const [seen, took] = [await coldCall(world, name), await bareStart(world, image)];
    if (round === 0) continue;
    calls.push(seen);
    bare.push(took);
  }
  const upTo = (stage: Stage) => median(calls.map((one) => one.get(stage) ?? Number.NaN));
  const answered = upTo('answered');
  const most = pool ? 250 : 700;
  return [
    {
      what: `${runtime}: cold call${pool ? ' with a pool' : ''}`,
      value: answered,
      unit: 'ms',
      floor: { what: 'the same containers by plain Docker calls', value: median(bare) },
      target: `< ${most}`,
      met: answered < most,
    },
    ...stages.map((stage) => ({
      what: `${runtime}: cold call${pool ? ' with a pool' : ''}, until the ${stage === 'answered' ? 'call' : 'instance'} is ${stage}`,
      value: upTo(stage),
      unit: 'ms',
    })),
  ];
}

/** Measures 50 concurrent calls of a function without instances. */
async function measureCrowd(world: World, runtime: Runtime): Promise<Row[]> {
  const name = `crowd-${runtime}`;
  await world.create(name, runtime, { idleSeconds: 5, concurrency: 10 }, true);
  await world.untilGone(name);
  const called = await world.call({
    target: world.gateway,
    path: `/function/${name}`,
    body: '{}',
    callers: crowd,
    ms: 0,
  });
  const logs = await Promise.all(
    (await world.pods(name)).map(({ metadata }) =>
      world.cluster.kubectl.attempt(['logs', metadata.name ?? '']),
    ),
  );
  const made = logs.flatMap(({ stdout }) => stdout.match(/^call .*$/gm) ?? []);
  const p99 = called.times.at(-1) ?? Number.NaN;
  const isOnce = made.length === crowd && new Set(made).size === crowd;
  return [
    {
      what: `${runtime}: 0 → ${crowd} callers, the last is answered after`,
      value: p99,
      unit: 'ms',
      target: '< 3000',
      met: p99 < 3000,
    },
    {
      what: `${runtime}: lost calls of these ${crowd}`,
      value: called.failures,
      unit: '',
      target: '0',
      met: called.failures === 0,
    },
    {
      what: `${runtime}: runs of the function for these ${crowd} calls`,
      value: made.length,
      unit: '',
      target: `${crowd}`,
      met: isOnce,
    },
  ];
}

/** Measures cold calls with a pool of waiting instances. */
export const pooled = (rounds: number): Benchmark => ({
  name: 'pool',
  run: () =>
    withWorld(['--warm-pool', '2'], async (world) => {
      const rows: Row[] = [];
      for (const runtime of runtimes) {
        rows.push(...(await measureRuntime(world, runtime, rounds, true)));
        rows.push(await memoryRow(world, runtime));
      }
      return rows;
    }),
});

/** Measures the memory of a waiting instance. */
async function memoryRow(world: World, runtime: Runtime): Promise<Row> {
  const held: number[] = [];
  for (const { status } of await world.waiting(runtime)) {
    const id = status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '';
    const pid = Number(await world.host.docker('inspect', '--format', '{{.State.Pid}}', id));
    held.push(usageOf(pid).rss / 2 ** 20);
  }
  return { what: `${runtime}: memory (RSS) of a waiting instance`, value: median(held), unit: 'MB' };
}

export const cold = (rounds: number): Benchmark => ({
  name: 'cold',
  run: () =>
    withWorld([], async (world) => {
      const rows: Row[] = [];
      for (const runtime of runtimes) {
        rows.push(...(await measureRuntime(world, runtime, rounds)));
        rows.push(...(await measureCrowd(world, runtime)));
      }
      return rows;
    }),
});
