/**
 * Pods of one kind of owner, shared by all workload controllers: finds, creates and deletes them. Invariants:
 * an owner is reconciled only if the cache shows the last writes for it, so that no pod is created twice; a
 * pod of another owner is never changed.
 */
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { type Draft, type KubeObject, objectKey } from '../../../apimachinery/meta.ts';
import { isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Client } from '../../../client/client.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { settleAll } from '../../../controller-runtime/settle-all.ts';
import { OwnedObjects, type OwnerKind } from '../owned-objects.ts';
import { slowStartBatches } from './slow-start.ts';

export interface PodOwnerKind<T extends KubeObject> extends OwnerKind<T, Pod> {
  /** Messages of events, if they differ from the usual ones. */
  readonly message?: PodWords<T>;
}

/**
 * Returns the message of an event. `error` is set for a failure; the name of a pod that was not created may
 * be unknown.
 */
export type PodWords<T extends KubeObject> = (
  verb: 'create' | 'update' | 'delete',
  owner: T,
  pod: string | undefined,
  error?: string,
) => string;

const usualWords: PodWords<KubeObject> = (verb, _owner, pod, error) => {
  const [doing, done] = {
    create: ['creating', 'Created'],
    update: ['updating', 'Updated'],
    delete: ['deleting', 'Deleted'],
  }[verb];
  return error === undefined ? `${done} pod: ${pod}` : `Error ${doing}: ${error}`;
};

export interface PodFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
  /** Error to throw after the status is written; undefined if a retry would not help. */
  readonly error: unknown;
}

export class OwnedPods<T extends KubeObject> extends OwnedObjects<T, Pod> {
  readonly #message: PodWords<T>;
  readonly #finalizer: string;

  constructor(context: ControllerContext, kind: PodOwnerKind<T>) {
    super(context, podResource, kind);
    this.#message = kind.message ?? usualWords;
    this.#finalizer = kind.finalizer ?? '';
  }

  /** Creates pods in batches of growing size; ends with the first batch in which a creation failed. */
  createAll(owner: T, drafts: readonly Draft<Pod>[]): Promise<PodFailure | undefined> {
    return this.makeAll(drafts, (draft) => this.create(owner, draft));
  }

  /** Works like `createAll`, for creations that consist of more than a pod. */
  async makeAll<D>(
    wanted: readonly D[],
    make: (one: D) => Promise<unknown>,
  ): Promise<PodFailure | undefined> {
    let made = 0;
    for (const size of slowStartBatches(wanted.length)) {
      const batch = wanted.slice(made, made + size);
      const results = await settleAll(this.context.clock, batch, make);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) return failure('FailedCreate', failed.reason);
      made += size;
    }
    return undefined;
  }

  /** Deletes the pods. A pod that is already gone counts as deleted. */
  async removeAll(owner: T, pods: readonly Pod[]): Promise<PodFailure | undefined> {
    const results = await settleAll(this.context.clock, pods, (pod) => this.remove(owner, pod));
    const failed = results.find((result) => result.status === 'rejected');
    return failed && failure('FailedDelete', failed.reason);
  }

  /** Creates the pod and records an event, also for a failure. Rejects if the server rejects the pod. */
  async create(owner: T, draft: Draft<Pod>): Promise<Pod> {
    const { client, clock, events } = this.context;
    try {
      const pod = await client.resource(podResource).create(draft);
      this.writes.written(objectKey(owner), pod, clock.now());
      const message = this.#message('create', owner, pod.metadata.name);
      events.event(owner, 'Normal', 'SuccessfulCreate', message);
      return pod;
    } catch (error) {
      const message = this.#message('create', owner, draft.metadata.name, errorMessage(error));
      if (!isNamespaceTerminating(error)) events.event(owner, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  /** Writes the given pod and records an event, also for a failure. */
  async update(owner: T, pod: Pod): Promise<void> {
    const { client, clock, events } = this.context;
    const { name } = pod.metadata;
    try {
      const written = await client.resource(podResource).update(pod);
      this.writes.written(objectKey(owner), written, clock.now());
      events.event(owner, 'Normal', 'SuccessfulUpdate', this.#message('update', owner, name));
    } catch (error) {
      if (isNotFound(error)) return;
      const message = this.#message('update', owner, name, errorMessage(error));
      events.event(owner, 'Warning', 'FailedUpdate', message);
      throw error;
    }
  }

  /** Sets labels of the pod; does nothing if the pod is gone. */
  async label(owner: T, pod: Pod, labels: Readonly<Record<string, string>>): Promise<void> {
    const { client, clock } = this.context;
    const { name, namespace = '', uid } = pod.metadata;
    const body = { metadata: { uid, labels } };
    const written = await ifPresent(client.resource(podResource).patch(name, namespace, 'merge', body));
    if (written) this.writes.written(objectKey(owner), written, clock.now());
  }

  async remove(owner: T, pod: Pod): Promise<void> {
    const { client, clock, events } = this.context;
    const { name, namespace, uid } = pod.metadata;
    try {
      await client.resource(podResource).delete(name, namespace, { preconditions: { uid } });
      this.writes.removed(objectKey(owner), pod, clock.now());
      events.event(owner, 'Normal', 'SuccessfulDelete', this.#message('delete', owner, name));
    } catch (error) {
      if (isNotFound(error)) return;
      const message = this.#message('delete', owner, name, errorMessage(error));
      events.event(owner, 'Warning', 'FailedDelete', message);
      throw error;
    }
  }

  /** Removes the kind's finalizer; does nothing if the pod is gone. */
  async letGo(owner: T, pod: Pod): Promise<void> {
    const { client, clock } = this.context;
    const written = await ifPresent(withoutFinalizer(client, pod, this.#finalizer));
    if (written) this.writes.written(objectKey(owner), written, clock.now());
  }
}

/** Removes the finalizer, whatever else has changed in the pod. Rejects if the pod was replaced. */
export function withoutFinalizer(client: Client, { metadata }: Pod, finalizer: string): Promise<Pod> {
  const { name, namespace = '', uid } = metadata;
  const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [finalizer] } };
  return client.resource(podResource).patch(name, namespace, 'strategic', body);
}

/**
 * Returns the failure. In a terminating namespace a retry would not help, because the owner itself will be
 * deleted.
 */
function failure(reason: PodFailure['reason'], error: unknown): PodFailure {
  return {
    reason,
    message: errorMessage(error),
    error: isNamespaceTerminating(error) ? undefined : error,
  };
}
