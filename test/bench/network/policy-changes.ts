/** The time from a change of a policy or a pod until it is in the kernel, with 1,000 policies and pods. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { networkPolicyResource } from '../../../src/api/networking/v1/network-policy.ts';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { PolicyEnforcer } from '../../../src/network/policies/enforcer.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import type { Benchmark, Row } from '../report.ts';
import { count, makePod, makePolicy } from './policy-objects.ts';

const namespace = `minik8s-bench-${process.pid}`;
const changes = 60;

class Enforced {
  readonly informers = new ScriptedInformers();
  readonly stop = new AbortController();
  readonly enforcer: PolicyEnforcer;
  #written = Promise.withResolvers<void>();

  constructor(directory: string) {
    this.enforcer = new PolicyEnforcer({
      rules: undefined,
      informers: this.informers,
      peerInformers: this.informers,
      ownPods: this.informers.informerFor(podResource),
      exec: this.#exec,
      events: { event: () => {} },
      ...{ clock: systemClock, log: silentLogger, nodeName: 'n', path: join(directory, 'policies.json') },
    });
  }

  /** Runs the enforcer's programs inside the benchmark's own network namespace. */
  readonly #exec: Exec = async (file, args, options) => {
    const result = await systemExec('ip', ['netns', 'exec', namespace, file, ...args], options);
    this.#written.resolve();
    return result;
  };

  /** Returns the milliseconds until a change is in the kernel. */
  async timed(change: () => void): Promise<number> {
    this.#written = Promise.withResolvers<void>();
    const from = performance.now();
    change();
    await this.#written.promise;
    return performance.now() - from;
  }
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

function rowsOf(what: string, values: readonly number[], floor: readonly number[]): Row[] {
  const p99 = quantile(values, 0.99);
  return [
    { what: `${what}, p50`, value: quantile(values, 0.5), unit: 'ms', floor: floorOf(floor, 0.5) },
    {
      ...{ what: `${what}, p99`, value: p99, unit: 'ms', floor: floorOf(floor, 0.99) },
      ...{ target: '< 100', met: p99 < 100 },
    },
  ];
}

const floorOf = (values: readonly number[], share: number) => ({
  what: 'nft with one element',
  value: quantile(values, share),
});

/** Starts nft as the enforcer does, for a table of one set. */
async function smallest(n: number): Promise<number> {
  const from = performance.now();
  const input = `add table ip bench\nadd set ip bench s { type ipv4_addr; }\nadd element ip bench s { 10.0.0.${n} }\n`;
  await systemExec('ip', ['netns', 'exec', namespace, 'nft', '-f', '-'], { input });
  return performance.now() - from;
}

async function measure(enforced: Enforced): Promise<Row[]> {
  const { informers, enforcer, stop } = enforced;
  for (let n = 0; n < count; n++) informers.put(podResource, makePod(n));
  for (let n = 0; n < count; n++) informers.put(networkPolicyResource, makePolicy(n));
  let running: Promise<unknown> | undefined;
  const first = await enforced.timed(() => {
    running = Promise.all([enforcer.run(stop.signal), enforcer.read(stop.signal)]);
  });
  // Rounds that the start caused have ended.
  await sleep(systemClock, 3_000);
  const times = { policy: [] as number[], pod: [] as number[], floor: [] as number[] };
  for (let n = 0; n < changes; n++) {
    const policy = () => informers.put(networkPolicyResource, makePolicy(n, 2));
    times.policy.push(await enforced.timed(policy));
    const pod = () => informers.put(podResource, makePod(count + n, `10.245.0.${n}`));
    times.pod.push(await enforced.timed(pod));
    times.floor.push(await smallest(n));
  }
  stop.abort();
  await running;
  return [
    { what: 'the whole table at the start', value: first, unit: 'ms' },
    ...rowsOf('a changed policy', times.policy, times.floor),
    ...rowsOf('a new pod', times.pod, times.floor),
  ];
}

export const policyChanges: Benchmark = {
  name: 'policy-changes',
  async run() {
    await systemExec('ip', ['netns', 'add', namespace]);
    const directory = await mkdtemp(join(tmpdir(), 'minik8s-bench-'));
    try {
      return await measure(new Enforced(directory));
    } finally {
      await rm(directory, { recursive: true });
      await systemExec('ip', ['netns', 'delete', namespace]);
    }
  },
};
