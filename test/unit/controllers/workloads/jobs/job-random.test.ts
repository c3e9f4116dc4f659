/**
 * A Job with random events, with many seeds: each pod is counted once, and the number of running pods never
 * exceeds the limit.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import { isFinished } from '../../../../../src/api/batch/v1/job-conditions.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import { newInternalError } from '../../../../../src/apimachinery/status-error.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { at } from '../../objects.ts';
import { JobWorld, job, key } from './job-world.ts';

const parallelism = 3;
const completions = 6;

/** Random actions of nodes and users on pods, and interruptions of the controller. */
class Life {
  world: JobWorld;
  readonly #random: SeededRandom;
  /** First end of each pod, by uid. */
  readonly ended = new Map<string, 'Succeeded' | 'Failed'>();

  constructor(seed: number, spec: Partial<Job['spec']>) {
    this.#random = new SeededRandom(seed);
    this.world = new JobWorld(job({ parallelism, completions, backoffLimit: 1000, ...spec }));
  }

  chance = (of: number) => this.#random.next() < of;

  async step(): Promise<void> {
    const { world, chance } = this;
    for (const pod of world.running) if (chance(0.3)) this.#end(pod);
    for (const pod of world.pods) {
      const { deletionTimestamp, finalizers = [] } = pod.metadata;
      if (deletionTimestamp && finalizers.length === 0 && chance(0.5)) world.remove(pod);
    }
    if (chance(0.1)) this.#restart();
    if (chance(0.7)) this.world.sync(podResource);
    if (chance(0.7)) this.world.sync(jobResource);
    this.world.refuse = () => (chance(0.1) ? newInternalError('now and then') : undefined);
    await this.world.reconcile(key).catch(() => undefined);
    this.world.refuse = () => undefined;
    assert.ok(this.world.running.length <= parallelism, `${this.world.running.length} pods run`);
    await this.world.clock.advance(chance(0.3) ? 600_000 : 1_000);
  }

  #end(pod: Pod): void {
    const { uid } = pod.metadata;
    const outcome = this.chance(0.5) ? 'Succeeded' : 'Failed';
    this.ended.set(uid, this.ended.get(uid) ?? outcome);
    if (outcome === 'Succeeded' || this.chance(0.5)) this.world.end(pod, outcome);
    else {
      const next = deepCopy(pod);
      next.metadata.deletionTimestamp = at(0);
      this.world.store(podResource, next);
    }
  }

  /** Starts another process: without memory, and with a cache that shows everything. */
  #restart(): void {
    this.world = new JobWorld(deepCopy(this.world.job), ...this.world.pods.map((pod) => deepCopy(pod)));
  }
}

describe('a Job with random failures of every type', () => {
  for (const completionMode of ['NonIndexed', 'Indexed'] as const)
    it(`counts every pod once and ends, in the mode ${completionMode}`, async () => {
      for (let seed = 1; seed <= 60; seed++) {
        const life = new Life(seed, { completionMode });
        for (let steps = 0; !isFinished(life.world.job); steps++) {
          assert.ok(steps < 2_000, `seed ${seed}: it does not end`);
          await life.step();
        }
        const { status } = life.world.job;
        const count = (wanted: string) => [...life.ended.values()].filter((how) => how === wanted).length;
        assert.equal(status?.failed ?? 0, count('Failed'), `seed ${seed}: failed`);
        assert.equal(
          status?.succeeded,
          completionMode === 'Indexed' ? completions : count('Succeeded'),
          `seed ${seed}`,
        );
        assert.deepEqual(status?.uncountedTerminatedPods, {});
        assert.deepEqual(
          life.world.pods.flatMap(({ metadata }) => metadata.finalizers ?? []),
          [],
          `seed ${seed}`,
        );
        if (completionMode === 'Indexed') assert.equal(status?.completedIndexes, '0-5');
      }
    });
});
