/**
 * The pods of one kind of owner, which every workload shares: which pods are its own, making them, removing them. Invariants: an
 * owner is decided on only when the cache shows what was last written for it, so that no pod is made twice; a pod of
 * another owner is never touched.
 */
import { type Pod, podResource } from '../../../api/core/v1/pod.ts';
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
  /** The messages of events, where they are not the usual ones. */
  readonly say?: PodWords<T>;
}

/** `error` where it failed; the name of a pod that was never made may not be known. */
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
  /** To be thrown once the status is written; undefined where trying again will not help. */
  readonly error: unknown;
}

export class OwnedPods<T extends KubeObject> extends OwnedObjects<T, Pod> {
  readonly #say: PodWords<T>;
  readonly #finalizer: string;

  constructor(context: ControllerContext, kind: PodOwnerKind<T>) {
    super(context, podResource, kind);
    this.#say = kind.say ?? usualWords;
    this.#finalizer = kind.finalizer ?? '';
  }

  /** Slowly at first; ends with the batch in which one could not be made. */
  createAll(owner: T, drafts: readonly Draft<Pod>[]): Promise<PodFailure | undefined> {
    return this.makeAll(drafts, (draft) => this.create(owner, draft));
  }

  /** The same, where more than a pod is made. */
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

  /** One that is gone already is removed. */
  async removeAll(owner: T, pods: readonly Pod[]): Promise<PodFailure | undefined> {
    const results = await settleAll(this.context.clock, pods, (pod) => this.remove(owner, pod));
    const failed = results.find((result) => result.status === 'rejected');
    return failed && failure('FailedDelete', failed.reason);
  }

  /** Tells it by an event, also when it fails; rejects with the server's refusal. */
  async create(owner: T, draft: Draft<Pod>): Promise<Pod> {
    const { client, clock, events } = this.context;
    try {
      const pod = await client.resource(podResource).create(draft);
      this.writes.written(objectKey(owner), pod, clock.now());
      const message = this.#say('create', owner, pod.metadata.name);
      events.event(owner, 'Normal', 'SuccessfulCreate', message);
      return pod;
    } catch (error) {
      const message = this.#say('create', owner, draft.metadata.name, errorMessage(error));
      if (!isNamespaceTerminating(error)) events.event(owner, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  /** Writes the pod as it is given; tells it by an event, also when it fails. */
  async update(owner: T, pod: Pod): Promise<void> {
    const { client, clock, events } = this.context;
    const { name } = pod.metadata;
    try {
      const written = await client.resource(podResource).update(pod);
      this.writes.written(objectKey(owner), written, clock.now());
      events.event(owner, 'Normal', 'SuccessfulUpdate', this.#say('update', owner, name));
    } catch (error) {
      if (isNotFound(error)) return;
      const message = this.#say('update', owner, name, errorMessage(error));
      events.event(owner, 'Warning', 'FailedUpdate', message);
      throw error;
    }
  }

  /** Sets labels of the pod; nothing where it is gone. */
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
      events.event(owner, 'Normal', 'SuccessfulDelete', this.#say('delete', owner, name));
    } catch (error) {
      if (isNotFound(error)) return;
      const message = this.#say('delete', owner, name, errorMessage(error));
      events.event(owner, 'Warning', 'FailedDelete', message);
      throw error;
    }
  }

  /** Takes the kind's finalizer off; one that is gone already has none. */
  async letGo(owner: T, pod: Pod): Promise<void> {
    const { client, clock } = this.context;
    const written = await ifPresent(withoutFinalizer(client, pod, this.#finalizer));
    if (written) this.writes.written(objectKey(owner), written, clock.now());
  }
}

/** Whatever else has changed of the pod; rejects when it is another one by now. */
export function withoutFinalizer(client: Client, { metadata }: Pod, finalizer: string): Promise<Pod> {
  const { name, namespace = '', uid } = metadata;
  const body = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [finalizer] } };
  return client.resource(podResource).patch(name, namespace, 'strategic', body);
}

/** Where a namespace ends, trying again will not help: the owner itself is about to go. */
function failure(reason: PodFailure['reason'], error: unknown): PodFailure {
  return {
    reason,
    message: errorMessage(error),
    error: isNamespaceTerminating(error) ? undefined : error,
  };
}
