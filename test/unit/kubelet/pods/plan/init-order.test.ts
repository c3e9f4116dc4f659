/**
 * The agent may end after any of its actions, and continue without memory: init containers still run in their
 * order, and a successful one runs once in each sandbox.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { stopTurn } from '../../../../../src/kubelet/containers/plan/stop-turn.ts';
import type { PodAction } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ContainerState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { makeContainer, makeMemory, makePod, makeSandbox, seconds, now as start } from '../../builders.ts';

type Kind = 'step' | 'sidecar' | 'main';

const kinds = (pod: Pod): ReadonlyMap<string, Kind> =>
  new Map([
    ...(pod.spec.initContainers ?? []).map(
      ({ name, restartPolicy }) => [name, restartPolicy === 'Always' ? 'sidecar' : 'step'] as const,
    ),
    ...pod.spec.containers.map(({ name }) => [name, 'main'] as const),
  ]);

class World {
  sandboxes: SandboxState[] = [];
  containers: ContainerState[] = [];
  memory = emptyMemory();
  pod: Pod;
  now = start;
  /** Number of steps in which programs fail or a sandbox dies; afterwards everything succeeds. */
  trouble: number;
  confirmed = false;
  #made = 0;
  readonly #random: SeededRandom;
  readonly #kinds: ReadonlyMap<string, Kind>;

  constructor(pod: Pod, random: SeededRandom) {
    this.pod = pod;
    this.#random = random;
    this.#kinds = kinds(pod);
    this.trouble = random.below(6);
  }

  plan() {
    const observed = { sandboxes: this.sandboxes, containers: this.containers };
    const { pod, memory, now } = this;
    const status = computePodStatus({ pod, observed, memory, nodeIP: '192.0.2.1', now });
    this.pod = { ...pod, status };
    return computePodActions({ pod: this.pod, observed, memory, now });
  }

  apply(action: PodAction): void {
    switch (action.type) {
      case 'createSandbox':
        assert.ok(!this.sandboxes.some(({ state }) => state === 'running'), 'one sandbox at a time');
        this.sandboxes.push(makeSandbox({ id: `sandbox-${this.#made++}`, attempt: action.attempt }));
        return;
      case 'removeSandbox':
        this.sandboxes = this.sandboxes.filter(({ id }) => id !== action.id);
        return;
      case 'startContainer':
        this.#start(action);
        return;
      case 'runHook':
        assert.fail('no container has a hook');
        return;
      case 'beginStop':
        this.memory.stopBegan.set(action.id, this.now);
        return;
      case 'terminateContainer':
        this.memory.stopping.set(action.id, this.now);
        if (this.#random.next() < 0.7) this.end(action.id, 143);
        return;
      case 'killContainer':
        this.end(action.id, 137);
        return;
      case 'removeContainer':
        this.containers = this.containers.filter(({ id }) => id !== action.id);
        return;
      case 'mountVolumes':
      case 'resizeContainer':
      case 'removeVolumes':
      case 'removePodFiles':
        return;
      case 'confirmDeletion':
        assert.deepEqual([...this.sandboxes, ...this.containers], [], 'nothing is left behind');
        this.confirmed = true;
        return;
    }
  }

  #start({ name, sandboxId, attempt, crashes }: Extract<PodAction, { type: 'startContainer' }>): void {
    const all = this.containers.filter((container) => container.name === name);
    assert.ok(!all.some(({ state }) => state === 'running'), 'one container of each name runs');
    assert.ok(!all.some((container) => container.attempt === attempt), 'each attempt has a new number');
    const here = this.containers.filter((container) => container.sandboxId === sandboxId);
    const own = here.filter((container) => container.name === name);
    const kind = this.#kinds.get(name);
    if (kind === 'step') assert.ok(!own.some(endedWell), `${name} ended well and runs again`);
    const names = [...this.#kinds.keys()];
    const started = here.some((container) => this.#kinds.get(container.name) === 'main');
    for (const before of names.slice(0, kind === 'main' ? undefined : names.indexOf(name))) {
      const other = here.filter((container) => container.name === before);
      const otherKind = this.#kinds.get(before);
      if (otherKind === 'step' && !started) assert.ok(other.some(endedWell), `${name} before ${before}`);
      if (otherKind === 'sidecar') assert.ok(other.length > 0 || started, `${name} before ${before}`);
    }
    // The agent may end between the two steps of a start.
    const state = this.#random.next() < 0.1 ? 'created' : 'running';
    const container = makeContainer({
      name,
      sandboxId,
      attempt,
      crashes,
      state,
      id: `made-${this.#made++}`,
      createdAt: this.now,
      startedAt: this.now,
      stopTurn: stopTurn(this.pod.spec, { name }),
    });
    this.containers.push(container);
  }

  /** Lets programs run while the agent waits; returns false when nothing happens any more. */
  passTime(): boolean {
    const running = this.containers.filter(({ state }) => state === 'running');
    if (this.trouble > 0) {
      this.trouble--;
      const victim = running[this.#random.below(Math.max(1, running.length))];
      if (this.#random.next() < 0.3) {
        this.sandboxes = this.sandboxes.map((sandbox) => ({ ...sandbox, state: 'exited' }));
        for (const { id } of running) this.end(id, 137);
      } else if (victim) this.end(victim.id, 1 + this.#random.below(2));
      return true;
    }
    const step = running.find(({ name }) => this.#kinds.get(name) === 'step');
    if (step) this.end(step.id, 0);
    return step !== undefined;
  }

  end(id: string, exitCode: number): void {
    this.containers = this.containers.map((container) =>
      container.id === id && container.state === 'running'
        ? { ...container, state: 'exited', exitCode, finishedAt: this.now }
        : container,
    );
  }
}

const endedWell = ({ state, exitCode }: ContainerState) => state === 'exited' && exitCode === 0;

const emptyMemory = () => ({
  ...makeMemory(),
  stopBegan: new Map<string, number>(),
  stopping: new Map<string, number>(),
});

function randomPod(random: SeededRandom): Pod {
  const initContainers = Array.from({ length: random.below(5) }, (_, index) => ({
    name: `init-${index}`,
    image: 'app:1',
    ...(random.next() < 0.4 && { restartPolicy: 'Always' }),
  }));
  const containers = ['main', 'side'].slice(random.below(2)).map((name) => ({ name, image: 'app:1' }));
  const restartPolicy = ['Always', 'OnFailure', 'Never'][random.below(3)];
  return makePod({ initContainers, containers, restartPolicy });
}

function settle(world: World, random: SeededRandom): void {
  for (let steps = 0; ; steps++) {
    assert.ok(steps < 400, 'no end after 400 steps');
    const plan = world.plan();
    for (const action of plan.actions) {
      world.apply(action);
      if (random.next() < 0.3) {
        world.memory = emptyMemory();
        break;
      }
    }
    if (world.confirmed) return;
    if (plan.actions.length > 0) continue;
    if (world.passTime()) continue;
    if (plan.requeueAfter === undefined) return;
    world.now += plan.requeueAfter;
  }
}

it('containers run in their order, for any failures and restarts of the agent', () => {
  const ends = new Map<string, number>();
  for (let seed = 0; seed < 1500; seed++) {
    const random = new SeededRandom(seed);
    const world = new World(randomPod(random), random);
    try {
      settle(world, random);
      const { phase } = world.pod.status ?? {};
      ends.set(String(phase), (ends.get(String(phase)) ?? 0) + 1);
      const running = world.containers.filter(({ state }) => state === 'running').map(({ name }) => name);
      const served = [...kinds(world.pod)].filter(([, kind]) => kind !== 'step').map(([name]) => name);
      if (world.pod.spec.restartPolicy === 'Always') assert.deepEqual(running.toSorted(), served.toSorted());
      if (phase === 'Failed' || phase === 'Succeeded') assert.deepEqual([...running, ...world.sandboxes], []);
      world.pod.metadata.deletionTimestamp = '2026-01-01T12:00:00Z';
      world.now += seconds(1);
      settle(world, random);
      assert.ok(world.confirmed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  assert.deepEqual([...ends.keys()].toSorted(), ['Failed', 'Running']);
});
