/**
 * Keeps a mirror pod in the API for each static pod, so that clients see the static pods of this node, and
 * writes the static pod's status to it.
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { StatusWriter } from '../pods/status-writer.ts';
import { fullName, isMirrorOf, isStatic, mirrorFor, mirrorStep } from './plan/static-pod.ts';

export interface MirrorPodsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly statuses: StatusWriter;
}

/** Status operations of the pods' workers; the statuses of static pods are written to their mirrors. */
export type Statuses = Pick<StatusWriter, 'set' | 'observe' | 'forget' | 'flush'>;

interface Entry {
  readonly backoff: Backoff;
  working: Promise<void> | undefined;
  isDirty: boolean;
  timer: Timer | undefined;
  /** The last problem that was logged, in one line. */
  problem: string | undefined;
}

const retry = { initialMs: 1_000, maxMs: 60_000 };

export class MirrorPods implements Statuses {
  readonly #options: MirrorPodsOptions;
  /** Static pods by `NAMESPACE/NAME`; mirrors and entries have the same keys. */
  #wanted: ReadonlyMap<string, Pod> = new Map();
  readonly #mirrors = new Map<string, Pod>();
  readonly #entries = new Map<string, Entry>();
  /** The last status of each static pod, by uid. */
  readonly #lastStatuses = new Map<string, PodStatus>();
  #node: Node | undefined;
  /** False until the mirrors have been listed: before that it is not known which ones exist. */
  #isSynced = false;
  #closed = false;

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  /** Sets the pods that files of this node describe. */
  want(pods: readonly Pod[]): void {
    this.#wanted = new Map(pods.map((pod) => [fullName(pod), pod]));
    this.#lookAtAll();
  }

  /** Passes this node's Node object, which is the owner of its mirrors. */
  observeNode(node: Node | undefined): void {
    const isNew = node?.metadata.uid !== this.#node?.metadata.uid;
    this.#node = node;
    if (isNew) this.#lookAtAll();
  }

  observeMirror(mirror: Pod): void {
    const name = fullName(mirror);
    this.#mirrors.set(name, mirror);
    const pod = this.#wanted.get(name);
    const { statuses } = this.#options;
    statuses.observe(mirror);
    const last = pod && isMirrorOf(mirror, pod) ? this.#lastStatuses.get(pod.metadata.uid) : undefined;
    if (last) statuses.set(mirror, last);
    this.#look(name);
  }

  mirrorGone(mirror: Pod): void {
    const name = fullName(mirror);
    this.#options.statuses.forget(mirror.metadata.uid);
    if (this.#mirrors.get(name)?.metadata.uid === mirror.metadata.uid) this.#mirrors.delete(name);
    this.#look(name);
  }

  /** Must be called once all mirrors of this node have been passed to `observeMirror`. */
  synced(): void {
    this.#isSynced = true;
    this.#lookAtAll();
  }

  /**
   * Returns the pod in the API that represents this one: its mirror for a static pod, and the pod itself for
   * any other.
   */
  inApi(pod: Pod): Pod | undefined {
    if (!isStatic(pod)) return pod;
    const mirror = this.#mirrors.get(fullName(pod));
    return mirror && isMirrorOf(mirror, pod) ? mirror : undefined;
  }

  set(pod: Pod, status: PodStatus): void {
    if (isStatic(pod)) this.#lastStatuses.set(pod.metadata.uid, status);
    const shown = this.inApi(pod);
    if (shown) this.#options.statuses.set(shown, status);
  }

  observe(pod: Pod): void {
    if (!isStatic(pod)) this.#options.statuses.observe(pod);
  }

  forget(uid: string): void {
    this.#lastStatuses.delete(uid);
    this.#options.statuses.forget(uid);
  }

  flush(uid: string): Promise<void> {
    return this.#options.statuses.flush(uid);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer } of this.#entries.values()) timer?.cancel();
    await Promise.all([...this.#entries.values()].map(({ working }) => working));
  }

  #lookAtAll(): void {
    for (const name of new Set([...this.#wanted.keys(), ...this.#mirrors.keys(), ...this.#entries.keys()]))
      this.#look(name);
  }

  #look(name: string): void {
    if (this.#closed || !this.#isSynced) return;
    const entry: Entry = this.#entries.get(name) ?? {
      ...{
        backoff: new Backoff(retry),
        working: undefined,
        isDirty: false,
        timer: undefined,
        problem: undefined,
      },
    };
    this.#entries.set(name, entry);
    entry.isDirty = true;
    entry.timer?.cancel();
    entry.working ??= this.#work(name, entry).finally(() => {
      entry.working = undefined;
    });
  }

  async #work(name: string, entry: Entry): Promise<void> {
    const { clock, log } = this.#options;
    while (entry.isDirty && !this.#closed) {
      entry.isDirty = false;
      try {
        await this.#step(name);
        entry.backoff.reset();
        entry.problem = undefined;
      } catch (error) {
        const problem = errorMessage(error);
        if (problem !== entry.problem)
          log.warn('cannot show a static pod in the API', { pod: name, error: problem });
        entry.problem = problem;
        entry.timer = clock.after(entry.backoff.next(), () => this.#look(name));
        return;
      }
    }
    if (!this.#wanted.has(name) && !this.#mirrors.has(name)) this.#entries.delete(name);
  }

  async #step(name: string): Promise<void> {
    const [pod, mirror] = [this.#wanted.get(name), this.#mirrors.get(name)];
    const step = mirrorStep(pod, mirror, this.#node);
    const pods = this.#options.client.resource(podResource);
    if (step === 'create' && pod && this.#node) {
      this.observeMirror(await pods.create(mirrorFor(pod, this.#node)));
      return;
    }
    if (step !== 'delete' || !mirror) return;
    const { namespace, uid } = mirror.metadata;
    try {
      await pods.delete(mirror.metadata.name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    this.mirrorGone(mirror);
  }
}

/** Returns a recorder that emits events of static pods for their mirrors, because clients see the mirrors. */
export const mirroredEvents = (events: EventRecorder, mirrors: MirrorPods): EventRecorder => ({
  event: (about, type, reason, message) => {
    const shown = about.kind === 'Pod' ? (mirrors.inApi(about as Pod) ?? about) : about;
    events.event(shown, type, reason, message);
  },
});
