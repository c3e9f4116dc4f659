/** From any initial state, carrying out the plan ends in an empty plan. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { PodAction } from '../../../../../src/kubelet/pods/plan/actions.ts';
import {
  computeOrphanActions,
  computePodActions,
} from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import type { ContainerState, RunState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  failedAttempt,
  type VolumeAttempt,
  type VolumeState,
  volumeState,
} from '../../../../../src/kubelet/volumes/plan/volume-state.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { makeContainer, makeMemory, makePod, makeSandbox, now as start } from '../../builders.ts';

/** Model of an engine for one pod: containers run until they are stopped; some ignore the signal to stop. */
class Model {
  sandboxes: SandboxState[] = [];
  containers: ContainerState[] = [];
  readonly stubborn = new Set<string>();
  readonly stopBegan = new Map<string, number>();
  readonly stopping = new Map<string, number>();
  reportedGone = false;
  now = start;
  /** Number of times that the creation of its volume fails. */
  volumeFailures = 0;
  #volume: VolumeAttempt | undefined;
  #made = 0;

  get volume(): VolumeState {
    return volumeState('v', this.#volume, '', this.now);
  }

  apply(action: PodAction, images: ReadonlyMap<string, string>): void {
    switch (action.type) {
      case 'mountVolumes':
        assert.ok(this.volume.isDue, 'not before its time');
        this.#volume =
          this.volumeFailures-- > 0
            ? failedAttempt(this.#volume, '', false, this.now)
            : { basis: '', isMounted: true, renewAt: undefined, failure: undefined };
        return;
      case 'createSandbox':
        assert.ok(this.volume.isMounted, 'volumes come first');
        assert.ok(!this.sandboxes.some(({ state }) => state === 'running'), 'never two sandboxes');
        this.sandboxes.push(makeSandbox({ id: `made-${this.#made++}`, attempt: action.attempt }));
        return;
      case 'removeSandbox':
        this.sandboxes = this.sandboxes.filter(({ id }) => id !== action.id);
        return;
      case 'startContainer': {
        assert.ok(this.sandboxes.some(({ id, state }) => id === action.sandboxId && state === 'running'));
        const same = this.containers.filter(({ name }) => name === action.name);
        assert.ok(!same.some(({ state }) => state === 'running'), 'never two of one name');
        assert.ok(
          !same.some(({ attempt }) => attempt === action.attempt),
          'every attempt has its own number',
        );
        const { name, sandboxId, attempt, crashes } = action;
        this.containers.push(
          makeContainer({
            name,
            sandboxId,
            attempt,
            crashes,
            image: images.get(action.name) ?? '',
            id: `made-${this.#made++}`,
            startedAt: this.now,
          }),
        );
        return;
      }
      case 'runHook':
        assert.fail('no container has a hook');
        return;
      case 'beginStop':
        this.stopBegan.set(action.id, this.now);
        return;
      case 'terminateContainer':
        this.stopping.set(action.id, this.now);
        if (!this.stubborn.has(action.id)) this.#end(action.id, 143);
        return;
      case 'resizeContainer':
        throw new assert.AssertionError({ message: 'these containers have no resources' });
      case 'killContainer':
        this.#end(action.id, 137);
        return;
      case 'removeContainer':
        this.containers = this.containers.filter(({ id }) => id !== action.id);
        return;
      case 'removeVolumes':
        assert.fail('the volumes of a pod with an unknown end are removed');
        return;
      case 'removePodFiles':
        assert.ok(
          !this.containers.some(({ state }) => state === 'running'),
          'files stay while they are used',
        );
        return;
      case 'confirmDeletion':
        assert.deepEqual([...this.sandboxes, ...this.containers], [], 'confirmed only when nothing is left');
        this.reportedGone = true;
        return;
    }
  }

  #end(id: string, exitCode: number): void {
    this.containers = this.containers.map((container) =>
      container.id === id && container.state === 'running'
        ? { ...container, state: 'exited', exitCode, finishedAt: this.now }
        : container,
    );
  }
}

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.below(values.length)] as T;
}

const states: readonly RunState[] = ['created', 'running', 'exited'];

function randomPod(random: SeededRandom): Pod {
  const names = ['main', 'side', 'third'].slice(0, 1 + random.below(3));
  const spec = {
    restartPolicy: pick(random, ['Always', 'OnFailure', 'Never']),
    terminationGracePeriodSeconds: random.below(40),
    containers: names.map((name) => ({ name, image: pick(random, ['app:1', 'app:1', 'app:2']) })),
  };
  const metadata =
    random.next() < 0.25
      ? { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: random.below(40) }
      : {};
  return makePod(spec, metadata);
}

function randomModel(random: SeededRandom): Model {
  const model = new Model();
  model.volumeFailures = random.below(3);
  for (let i = random.below(3); i > 0; i--) {
    // The agent makes one sandbox at a time: at most the newest one runs.
    const state = i === 1 ? pick(random, ['running', 'exited'] as const) : 'exited';
    model.sandboxes.push(makeSandbox({ id: `sandbox-${i}`, attempt: 10 - i, state }));
  }
  for (const name of ['main', 'side', 'third', 'unknown']) {
    for (let attempt = 0; attempt < random.below(4); attempt++) {
      const container = makeContainer({
        name,
        attempt,
        id: `${name}-${attempt}`,
        image: pick(random, ['app:1', 'app:2']),
        state: attempt === 2 ? pick(random, states) : pick(random, ['created', 'exited'] as const),
        exitCode: random.below(3),
        crashes: random.below(6),
        sandboxId: `sandbox-${1 + random.below(2)}`,
      });
      model.containers.push(container);
      if (random.next() < 0.3) model.stubborn.add(container.id);
    }
  }
  return model;
}

/** Carries out plans until one is empty; time passes only when a plan asks for it. */
function settle(model: Model, pod: Pod, known: boolean): void {
  const images = new Map(pod.spec.containers.map(({ name, image }) => [name, image]));
  for (let steps = 0; ; steps++) {
    assert.ok(steps < 60, `no end after ${steps} steps`);
    const { sandboxes, containers, now } = model;
    const { stopBegan, stopping, reportedGone, volume } = model;
    const memory = makeMemory({ stopBegan, stopping, reportedGone, volumes: [volume] });
    const observed = { sandboxes, containers };
    const plan = known
      ? computePodActions({ pod, observed, memory, now })
      : computeOrphanActions(observed, memory, now);
    for (const action of plan.actions) model.apply(action, images);
    if (!known && plan.actions.some(({ type }) => type === 'removePodFiles')) model.reportedGone = true;
    if (plan.actions.length > 0) continue;
    if (plan.requeueAfter === undefined) return;
    assert.ok(plan.requeueAfter > 0, 'the requeue time has passed already');
    model.now += plan.requeueAfter;
  }
}

describe('plans converge', () => {
  it('from any state, for any pod, in a bounded number of steps', () => {
    for (let seed = 0; seed < 2000; seed++) {
      const random = new SeededRandom(seed);
      const model = randomModel(random);
      const pod = randomPod(random);
      const known = random.next() < 0.85;
      try {
        settle(model, pod, known);
        const running = model.containers.filter(({ state }) => state === 'running').map(({ name }) => name);
        if (!known || pod.metadata.deletionTimestamp !== undefined) {
          assert.deepEqual([...model.sandboxes, ...model.containers], []);
        } else if (pod.spec.restartPolicy === 'Always') {
          assert.deepEqual(running.toSorted(), pod.spec.containers.map(({ name }) => name).toSorted());
        }
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
});
