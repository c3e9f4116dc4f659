/**
 * The scheduler with an in-memory server: pods and nodes that reach the scheduler at once or when a test
 * calls for it, and requests that fail or wait on demand.
 */
import assert from 'node:assert/strict';
import { type Node, nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { objectKey } from '../../../src/apimachinery/meta.ts';
import { applyMergePatch } from '../../../src/apimachinery/patch-merge.ts';
import { newConflict, newNotFound } from '../../../src/apimachinery/status-error.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import type { Client, DeleteOptions } from '../../../src/client/client.ts';
import { createManager } from '../../../src/controller-runtime/manager.ts';
import { registry } from '../../../src/features/kinds.ts';
import { type SchedulerOptions, scheduler } from '../../../src/scheduler/scheduler.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const pods = { group: '', plural: 'pods' };

type Request = 'binding' | 'status' | 'delete';

export class SchedulingWorld {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly informers = new ScriptedInformers();
  /** `TYPE REASON POD: MESSAGE`. */
  readonly events: string[] = [];
  /** True if the scheduler sees changes of pods at once; otherwise it sees them after `tell`. */
  prompt = true;
  /** True if a deleted pod stays until the test removes it. */
  graceful = false;
  /** Names of the pods that the scheduler deleted. */
  readonly deletes: string[] = [];
  /** Called before a request is answered; an error that it throws is the answer. */
  before: (request: Request, name: string) => Promise<void> | void = () => {};
  readonly #pods = new Map<string, Pod>();
  readonly #stop = new AbortController();
  #revision = 1;
  #running: Promise<void> | undefined;

  async start(options: SchedulerOptions = {}): Promise<void> {
    const { clock, log, informers } = this;
    const manager = createManager({
      kinds: new KindSet(registry),
      client: this.#client(),
      informers,
      clock,
      log,
      random: new SeededRandom(1),
      events: {
        event: (about, type, reason, message) =>
          this.events.push(`${type} ${reason} ${about.metadata.name}: ${message}`),
      },
    });
    manager.add(scheduler(options));
    this.#running = manager.run(this.#stop.signal);
    await clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    assert.equal(this.clock.pending, 0, 'no timer is left behind');
  }

  async addNode(...nodes: readonly Node[]): Promise<void> {
    for (const node of nodes) this.informers.put(nodeResource, node);
    await this.clock.settle();
  }

  async removeNode(name: string): Promise<void> {
    this.informers.remove(nodeResource, name);
    await this.clock.settle();
  }

  /** Stores the pods, and shows them to the scheduler. */
  async put(...list: readonly Pod[]): Promise<void> {
    for (const pod of list) {
      this.#store(pod);
      this.tell(pod.metadata.name);
    }
    await this.clock.settle();
  }

  async remove(name: string): Promise<void> {
    this.#pods.delete(name);
    this.tell(name);
    await this.clock.settle();
  }

  /** Shows the current state of a pod to the scheduler. */
  tell(name: string): void {
    const pod = this.#pods.get(name);
    if (pod) this.informers.put(podResource, pod);
    else this.informers.remove(podResource, `default/${name}`);
  }

  /** Shows an earlier state of a pod to the scheduler once more. */
  repeat(pod: Pod): Promise<void> {
    this.informers.put(podResource, pod);
    return this.clock.settle();
  }

  pod(name: string): Pod {
    const pod = this.#pods.get(name);
    assert.ok(pod, name);
    return pod;
  }

  nodeOf = (name: string): string | undefined => this.pod(name).spec.nodeName;

  /** Returns the number of times that the server has stored the pod. */
  revisionOf = (name: string): string => this.pod(name).metadata.resourceVersion;

  conditionOf = (name: string) =>
    this.pod(name).status?.conditions?.find(({ type }) => type === 'PodScheduled');

  #store(pod: Pod): Pod {
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(this.#revision++) } };
    assert.equal(objectKey(pod), `default/${pod.metadata.name}`);
    this.#pods.set(pod.metadata.name, stored);
    return stored;
  }

  #change(name: string, change: (pod: Pod) => Pod): Pod {
    const current = this.#pods.get(name);
    if (!current) throw newNotFound(pods, name);
    const stored = this.#store(change(current));
    if (this.prompt) this.tell(name);
    return stored;
  }

  #client(): Client {
    const client = {
      createSubresource: async (name: string, namespace: string, subresource: string, body: unknown) => {
        assert.deepEqual([namespace, subresource], ['default', 'binding']);
        await this.before('binding', name);
        this.#change(name, (pod) => bound(pod, body as Binding, rfc3339(this.clock.now())));
      },
      patch: async (name: string, namespace: string, type: string, body: unknown, subresource: string) => {
        assert.deepEqual([namespace, type, subresource], ['default', 'strategic', 'status']);
        await this.before('status', name);
        return this.#change(name, (pod) => patched(pod, body as StatusPatch));
      },
      delete: async (name: string, namespace: string, { preconditions }: DeleteOptions) => {
        assert.equal(namespace, 'default');
        await this.before('delete', name);
        if (this.pod(name).metadata.uid !== preconditions?.uid) throw newConflict(pods, name, 'another uid');
        this.deletes.push(name);
        if (this.graceful)
          this.#change(name, (pod) => ({
            ...pod,
            metadata: { ...pod.metadata, deletionTimestamp: rfc3339(this.clock.now()) },
          }));
        else void this.remove(name);
      },
    };
    return { resource: () => client } as unknown as Client;
  }
}

interface Binding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly target: { readonly kind: string; readonly name: string };
}

interface StatusPatch {
  readonly metadata: { readonly uid: string; readonly annotations?: object };
  readonly status: { readonly conditions?: readonly Condition[] };
}

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

/** Returns the pod after a strategic merge patch: conditions merge by type. */
function patched(pod: Pod, { metadata, status }: StatusPatch): Pod {
  if (metadata.uid !== pod.metadata.uid) throw newConflict(pods, pod.metadata.name, 'another uid');
  const { conditions = [], ...rest } = status;
  const kept = (pod.status?.conditions ?? []).filter(
    ({ type }) => !conditions.some((condition) => condition.type === type),
  );
  const all = [...kept, ...conditions];
  const merged = applyMergePatch(pod, { metadata, status: rest }) as Pod;
  return { ...merged, status: { ...merged.status, ...(all.length > 0 && { conditions: all }) } };
}

/** Returns the pod after a binding, as the server does it (src/apiserver/subresources/binding.ts). */
function bound(pod: Pod, { apiVersion, kind, metadata, target }: Binding, now: string): Pod {
  assert.deepEqual([apiVersion, kind, target.kind], ['v1', 'Binding', 'Node']);
  assert.equal(metadata.name, pod.metadata.name);
  if (metadata.uid !== pod.metadata.uid) throw newConflict(pods, metadata.name, 'another uid');
  if (pod.spec.nodeName || pod.metadata.deletionTimestamp) throw newConflict(pods, metadata.name, 'no');
  const others = pod.status?.conditions?.filter(({ type }) => type !== 'PodScheduled') ?? [];
  const scheduled = { type: 'PodScheduled', status: 'True' as const, lastTransitionTime: now };
  return {
    ...pod,
    spec: { ...pod.spec, nodeName: target.name },
    status: { ...pod.status, conditions: [...others, scheduled] },
  };
}
