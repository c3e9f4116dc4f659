/** Probes of a pod on a clock that the test controls, with a program in place of the probed container. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { exposition } from '../../../../src/base/metrics/exposition.ts';
import { PodProbes } from '../../../../src/kubelet/probes/pod-probes.ts';
import { ProbeCounts } from '../../../../src/kubelet/probes/probe-counts.ts';
import type { ContainerState, ProcessStreams } from '../../../../src/kubelet/runtime/runtime.ts';
import { readExposition } from '../../../fixtures/exposition-reader.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../../fixtures/simulated-runtime.ts';
import { makeContainer, makePod, makeSandbox, observed } from '../builders.ts';

type Program = (command: readonly string[], streams: ProcessStreams, signal: AbortSignal) => Promise<number>;

class World {
  readonly clock = new FakeClock();
  readonly events: string[] = [];
  readonly counts = new ProbeCounts();
  /** Time of each probe in seconds, with its command. */
  readonly runs: string[] = [];
  changes = 0;
  isEnding = false;
  program: Program = async () => 0;
  pod: Pod;
  container: ContainerState;
  readonly probes: PodProbes;
  readonly #start = this.clock.now();

  constructor(spec: object, ranFor = 0) {
    const runtime = new SimulatedRuntime({
      clock: this.clock,
      random: new SeededRandom(1),
      images: new Map(),
    });
    runtime.exec = (_id, { command }, streams, signal) => {
      this.runs.push(`${(this.clock.now() - this.#start) / 1000} ${command.join(' ')}`);
      return this.program(command, streams, signal);
    };
    const container = { name: 'main', image: 'app:1', ...spec };
    this.pod = makePod({ containers: [container] }, {}, { podIP: '10.0.0.1', phase: 'Running' });
    this.container = makeContainer({ startedAt: this.#start - ranFor * 1000 });
    this.probes = new PodProbes(
      {
        runtime,
        clock: this.clock,
        random: { next: () => 0.5, uuid: () => '' },
        events: {
          event: (_pod, type, reason, message) => void this.events.push(`${type} ${reason} ${message}`),
        },
        probeCounts: this.counts,
        probesSince: this.#start,
      },
      () => {
        this.changes++;
        this.follow();
      },
    );
    this.follow();
  }

  follow(): void {
    const seen = observed(makeSandbox(), this.container);
    this.probes.observe(this.pod, seen);
    this.probes.follow(this.pod, seen, this.isEnding);
  }

  get result() {
    return this.probes.results.get(this.container.id);
  }
}

const run = (what: string, more: object = {}) => ({
  exec: { command: [what] },
  ...{ periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3, ...more },
});

describe('the probes of a pod', () => {
  it('run every period from the first run on, and report only changes', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 2 }) });
    await world.clock.advance(7000);
    assert.deepEqual(world.runs, ['0 ready', '2 ready', '4 ready', '6 ready']);
    assert.deepEqual(world.result, { readiness: true });
    assert.equal(world.changes, 1);
    assert.deepEqual(world.events, []);
  });

  it('keep their period even if a run takes long', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 2, timeoutSeconds: 10 }) });
    let takes = 1500;
    world.program = () => new Promise((resolve) => world.clock.after(takes, () => resolve(0)));
    await world.clock.advance(5000);
    assert.deepEqual(world.runs, ['0 ready', '2 ready', '4 ready']);
    takes = 5000;
    await world.clock.advance(12_000);
    // A probe that took longer than a period is followed by the next one at once, never by two at a time.
    assert.deepEqual(world.runs.slice(3), ['6 ready', '11 ready', '16 ready']);
  });

  it('delay liveness and readiness until the container has started', async () => {
    const world = new World({
      startupProbe: run('started', { periodSeconds: 1 }),
      livenessProbe: run('alive', { periodSeconds: 5 }),
      readinessProbe: run('ready', { periodSeconds: 5 }),
    });
    world.program = async ([what]) => (what === 'started' && world.clock.monotonic() < 2500 ? 1 : 0);
    await world.clock.advance(9000);
    assert.deepEqual(world.runs, [
      ...['0 started', '1 started', '2 started', '3 started'],
      ...['3 ready', '5 alive', '8 ready'],
    ]);
    assert.deepEqual(world.result, { startup: true, readiness: true, liveness: true });
    // The first probe ran before the container's first period was over.
    assert.deepEqual(world.events, [
      'Warning Unhealthy Startup probe failed: ',
      'Warning Unhealthy Startup probe failed: ',
    ]);
  });

  it('end a container that does not start within failureThreshold periods, and are not run again', async () => {
    const world = new World({ startupProbe: run('started', { failureThreshold: 3 }) });
    world.program = async () => 1;
    await world.clock.advance(29_999);
    assert.deepEqual(world.result, {});
    await world.clock.advance(1);
    assert.deepEqual(world.result, { startup: false });
    await world.clock.advance(60_000);
    assert.deepEqual(world.runs, ['0 started', '10 started', '20 started', '30 started']);
    assert.equal(world.clock.pending, 0);
  });

  it('end a container once when its liveness probe fails', async () => {
    const world = new World({ livenessProbe: run('alive', { failureThreshold: 2 }) });
    world.program = async (_command, { stdout }) => {
      stdout?.write('no');
      return 1;
    };
    await world.clock.advance(60_000);
    assert.deepEqual(world.runs, ['10 alive', '20 alive']);
    assert.deepEqual(world.result, { liveness: false });
    assert.deepEqual(world.events, Array(2).fill('Warning Unhealthy Liveness probe failed: no'));
  });

  it('begin again with the next container, without an earlier result', async () => {
    const world = new World({ livenessProbe: run('alive', { failureThreshold: 1 }) });
    world.program = async () => 1;
    await world.clock.advance(10_000);
    assert.deepEqual(world.result, { liveness: false });
    world.container = makeContainer({ attempt: 1, startedAt: world.clock.now() });
    world.follow();
    assert.deepEqual([...world.probes.results.keys()], ['main-1']);
    assert.deepEqual(world.result, {});
    world.program = async () => 0;
    await world.clock.advance(10_000);
    assert.deepEqual(world.result, { liveness: true });
  });

  it('report each change of readiness', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 1, failureThreshold: 2 }) });
    const results = [0, 1, 1, 0, 1, 0, 1, 1];
    world.program = async () => results.shift() ?? 0;
    await world.clock.advance(1500);
    assert.deepEqual([world.result, world.changes], [{ readiness: true }, 1]);
    await world.clock.advance(1000);
    assert.deepEqual([world.result, world.changes], [{ readiness: false }, 2]);
    await world.clock.advance(1000);
    assert.deepEqual([world.result, world.changes], [{ readiness: true }, 3]);
    await world.clock.advance(4000);
    assert.deepEqual([world.result, world.changes], [{ readiness: false }, 4]);
  });

  it('kill a program at its timeout, and wait for its end before the next run', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 1, failureThreshold: 1 }) });
    let running = 0;
    let most = 0;
    world.program = async (_command, _streams, signal) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      // The program takes a while to end.
      await new Promise<void>((resolve) => void world.clock.after(3000, resolve));
      running--;
      throw signal.reason;
    };
    await world.clock.advance(1000);
    assert.deepEqual(world.result, { readiness: false });
    assert.deepEqual(world.events, [
      'Warning Unhealthy Readiness probe failed: command timed out: "ready" timed out after 1s',
    ]);
    await world.clock.advance(20_000);
    assert.equal(most, 1);
    assert.deepEqual(world.runs.slice(0, 3), ['0 ready', '4 ready', '8 ready']);
  });

  it('report a program that could not be killed', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 60 }) });
    world.program = async (_command, _streams, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw new Error('cannot end a command in container main-0');
    };
    await world.clock.advance(1000);
    assert.equal(
      world.events[1],
      'Warning Unhealthy Readiness probe errored: cannot end a command in container main-0',
    );
  });

  it('decide nothing if they could not be run, and report it', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 1 }) });
    await world.clock.advance(500);
    world.program = async () => {
      throw new Error('the engine is away');
    };
    await world.clock.advance(10_000);
    assert.deepEqual(world.result, { readiness: true });
    assert.equal(world.events[0], 'Warning Unhealthy Readiness probe errored: the engine is away');
    // Each probe has three attempts.
    assert.deepEqual(world.runs.slice(1, 5), ['1 ready', '1 ready', '1 ready', '2 ready']);
  });

  it('run only for readiness while the pod terminates, and not after its end', async () => {
    const world = new World({
      livenessProbe: run('alive', { periodSeconds: 1 }),
      readinessProbe: run('ready', { periodSeconds: 1 }),
    });
    world.isEnding = true;
    world.follow();
    await world.clock.advance(1500);
    assert.deepEqual(world.runs, ['0 ready', '1 ready']);
    world.probes.stop();
    assert.equal(world.clock.pending, 0);
  });

  it('are counted when they have run, except aborted runs', async () => {
    const world = new World({ readinessProbe: run('ready', { periodSeconds: 1 }) });
    await world.clock.advance(1500);
    const told = readExposition(exposition(world.counts.families())).get('prober_probe_total')?.samples ?? [];
    assert.deepEqual(
      [...told].map(([key, value]) => [/result="(\w+)"/.exec(key)?.[1], value]),
      [['successful', 2]],
    );
    world.probes.stop();
  });

  it('end runs that are under way when they are stopped', async () => {
    const world = new World({ readinessProbe: run('ready', { timeoutSeconds: 600 }) });
    let ended = false;
    world.program = async (_command, _streams, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      ended = true;
      throw signal.reason;
    };
    await world.clock.advance(1000);
    world.probes.stop();
    await world.clock.settle();
    assert.equal(ended, true);
    assert.equal(world.clock.pending, 0);
    assert.deepEqual(world.events, []);
  });

  it('start at a random moment of the first period after a kubelet restart, with the last result', async () => {
    const world = new World({ readinessProbe: run('ready') }, 3600);
    await world.clock.advance(4999);
    assert.deepEqual(world.runs, []);
    await world.clock.advance(1);
    assert.deepEqual(world.runs, ['5 ready']);
  });

  it('give the program the values that the pod itself has for variables', async () => {
    const env = [
      { name: 'FILE', value: '/tmp/x' },
      { name: 'ELSEWHERE', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const readinessProbe = {
      exec: { command: ['cat', '$(FILE)', '$$(FILE)', '<$(ELSEWHERE)>', '$(OTHER)'] },
    };
    const world = new World({ env, readinessProbe });
    await world.clock.advance(0);
    assert.deepEqual(world.runs, ['0 cat /tmp/x $(FILE) <> $(OTHER)']);
  });
});
