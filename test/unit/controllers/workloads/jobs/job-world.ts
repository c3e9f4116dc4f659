/** A Job, its pods, and the controller between a cache that a test fills and a server that stores writes. */
import assert from 'node:assert/strict';
import { type Job, jobResource } from '../../../../../src/api/batch/v1/job.ts';
import type { JobConditionType } from '../../../../../src/api/batch/v1/job-conditions.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import { deepCopy } from '../../../../../src/apimachinery/equality.ts';
import { objectKey } from '../../../../../src/apimachinery/meta.ts';
import { jobController } from '../../../../../src/controllers/workloads/jobs/job.ts';
import { indexKey, trackingFinalizer } from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { at, meta, ownedBy, type PodOptions, pod } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';

export const key = 'default/work';
export const owners = [{ ...ownedBy('Job', 'work'), apiVersion: 'batch/v1' }];
const labels = { 'batch.kubernetes.io/controller-uid': 'uid-work' };

/** Job with the server's defaults. */
export function job(spec: Partial<Job['spec']> = {}, status?: Job['status']): Job {
  const template = {
    metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '', labels },
    spec: { ...pod('template').spec, nodeName: undefined, restartPolicy: 'Never' as const },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: meta('work', { generation: 1, labels }),
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
      selector: { matchLabels: labels },
      template,
      ...spec,
    },
    ...(status && { status }),
  };
}

export interface JobPodOptions extends PodOptions {
  readonly index?: number;
  /** End of the pod, in seconds after the start. */
  readonly endedAt?: number;
  readonly exitCode?: number;
  readonly tracked?: false;
}

export function jobPod(name: string, options: JobPodOptions = {}): Pod {
  const { index, endedAt, exitCode = 0, tracked = true, phase, metadata } = options;
  const made = pod(name, {
    ...options,
    metadata: {
      labels,
      ownerReferences: owners,
      ...(tracked && { finalizers: [trackingFinalizer] }),
      ...metadata,
      ...((index !== undefined || metadata?.annotations) && {
        annotations: { ...(index !== undefined && { [indexKey]: String(index) }), ...metadata?.annotations },
      }),
    },
  });
  const [first] = made.status?.containerStatuses ?? [];
  const ended = phase === 'Succeeded' || phase === 'Failed';
  if (first && ended) Object.assign(first, terminated(exitCode, endedAt ?? 0));
  return made;
}

const terminated = (exitCode: number, endedAt: number): Partial<ContainerStatus> => ({
  state: { terminated: { exitCode, finishedAt: at(endedAt) } },
});

let worlds = 0;

export class JobWorld extends ScriptedWorld {
  constructor(one?: Job, ...pods: readonly Pod[]) {
    // Another world gives its objects other names and versions than the world from which these pods came.
    super(jobController, 1000 * worlds++);
    if (one) this.put(jobResource, one);
    for (const each of pods) this.put(podResource, each);
  }

  get job(): Job {
    const found = this.stored(jobResource, key);
    assert.ok(found, 'the Job is there');
    return found;
  }

  get pods(): Pod[] {
    return this.all(podResource);
  }

  get running(): Pod[] {
    return this.pods.filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
    );
  }

  /** Updates the cache to the server's state. */
  showAll(): void {
    this.sync(podResource);
    this.sync(jobResource);
  }

  /**
   * Reconciles until the controller has seen everything and has nothing left to do; returns the delay of its
   * next call.
   */
  async settle(): Promise<number | undefined> {
    for (let turns = 0; turns < 20; turns++) {
      this.showAll();
      const before = this.asked.length;
      const result = await this.reconcile(key);
      if (this.asked.length === before) return result?.requeueAfter;
    }
    throw new Error('the controller does not come to rest');
  }

  /** Reports the end of a pod as its node does; each one 1 s later. */
  end(one: Pod, phase: 'Succeeded' | 'Failed', exitCode = phase === 'Failed' ? 1 : 0): void {
    const next = deepCopy(one);
    const seconds = (this.clock.now() - Date.UTC(2026, 0, 1)) / 1000;
    next.status = {
      ...next.status,
      phase,
      containerStatuses: [
        {
          name: 'app',
          image: 'app:1',
          imageID: '',
          ready: false,
          restartCount: 0,
          ...terminated(exitCode, seconds),
        },
      ],
    };
    this.store(podResource, next);
  }

  /** Removes a pod that its node has ended and that has no finalizers left. */
  remove(one: Pod): void {
    assert.deepEqual(this.stored(podResource, objectKey(one))?.metadata.finalizers ?? [], []);
    this.take(podResource, objectKey(one));
  }

  /** `TYPE=STATUS REASON` of each condition. */
  get conditions(): string[] {
    return (this.job.status?.conditions ?? []).map(
      ({ type, status, reason }) => `${type as JobConditionType}=${status} ${reason}`,
    );
  }

  /** Events of the Job except those about created and deleted pods. */
  get news(): string[] {
    return this.told.filter((text) => !/ Successful(Create|Delete) /.test(text));
  }
}
