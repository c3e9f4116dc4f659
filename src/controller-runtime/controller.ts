/**
 * Runs one controller: informer events enqueue keys, workers reconcile them. An error thrown by reconcile
 * never ends the controller. A run begins by enqueueing every existing object, which makes up for changes
 * made while the controller was not running.
 */
import type { ExtensionKind } from '../apimachinery/extension-kinds.ts';
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import type { ResourceDefinition, ResourceRef } from '../apimachinery/resource-definition.ts';
import { isConflict, isNamespaceTerminating } from '../apimachinery/status-error.ts';
import { onAbort } from '../base/abort.ts';
import type { BackoffOptions } from '../base/backoff.ts';
import { nextTurn } from '../base/clock.ts';
import { inTurns, type NextPiece } from '../base/event-loop/pieces.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Informer, Lister } from '../client/informer.ts';
import {
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  type SharedContext,
  TerminalError,
  type Watched,
} from './definition.ts';
import { ReconcileTraces } from './reconcile-traces.ts';
import { WorkQueue } from './workqueue.ts';

/**
 * Number of keys that a worker reconciles before it yields to the event loop. Work on cached objects alone
 * would never yield.
 */
const keysPerTurn = 16;
/**
 * Number of objects enqueued per piece of work at the start of a run, when one object may concern a thousand
 * keys.
 */
const objectsPerPiece = 16;

export interface ControllerOptions {
  /** Turns shared by all controllers of a process; default: turns of its own. */
  readonly nextPiece?: NextPiece;
  readonly retry?: Partial<BackoffOptions>;
}

export class Controller {
  readonly name: string;
  readonly #definition: ControllerDefinition;
  readonly #context: SharedContext;
  readonly #options: ControllerOptions;
  readonly #nextPiece: NextPiece;
  readonly #log: Logger;
  #watches: readonly { readonly watched: Watched; readonly lister: Lister<KubeObject> }[] = [];
  /** Kinds, each with what `watchOf` or `watchOfExtension` returned for it. */
  readonly #ofKinds = new Map<ResourceRef, Watched | undefined>();
  #queue: WorkQueue<ObjectKey> | undefined;
  readonly #traces: ReconcileTraces | undefined;

  constructor(factory: ControllerFactory, context: SharedContext, options: ControllerOptions = {}) {
    const definition = factory({ ...context, enqueue: (keys) => this.#queue?.addAll(keys) });
    this.name = definition.name;
    this.#definition = definition;
    this.#context = context;
    this.#options = options;
    this.#nextPiece = options.nextPiece ?? inTurns(context.clock);
    this.#log = context.log.named(definition.name);
    this.#traces = context.tracer && new ReconcileTraces(context.tracer, context.clock, definition.name);
  }

  get startsLater(): boolean {
    return this.#definition.startsLater ?? false;
  }

  /**
   * Adds the event handlers to the informers. Must be called once, before the informers start. Keys are
   * dropped while the controller does not run.
   */
  attach(): void {
    for (const watched of this.#definition.watches) this.#watch(watched);
    this.followKinds();
  }

  /**
   * Follows kinds that were added and drops kinds that were removed; `extensions` are the kinds of extension
   * servers. The caller starts the informers of added kinds.
   */
  followKinds(extensions: readonly ExtensionKind[] = []): void {
    const { watchOf, watchOfExtension } = this.#definition;
    const stored = watchOf ? this.#context.kinds.stored : [];
    const others = watchOfExtension ? extensions : [];
    this.#dropAllBut(new Set<ResourceRef>([...stored, ...others]));
    for (const kind of stored) this.#begin(kind, watchOf, (watched) => this.#follow(kind, watched));
    for (const kind of others) this.#begin(kind, watchOfExtension, (watched) => this.#watch(watched));
  }

  /** Follows a kind that is not followed yet. */
  #begin<K extends ResourceRef>(
    kind: K,
    watchOf: ((kind: K) => Watched | undefined) | undefined,
    follow: (watched: Watched) => void,
  ): void {
    if (this.#ofKinds.has(kind)) return;
    const watched = watchOf?.(kind);
    this.#ofKinds.set(kind, watched);
    if (watched) follow(watched);
  }

  #dropAllBut(kinds: ReadonlySet<ResourceRef>): void {
    for (const [kind, watched] of this.#ofKinds) {
      if (kinds.has(kind)) continue;
      this.#ofKinds.delete(kind);
      this.#watches = this.#watches.filter((one) => one.watched !== watched);
    }
  }

  #follow(kind: ResourceDefinition, watched: Watched): void {
    const { synced } = this.#watch(watched);
    const { keysOfKind } = this.#definition;
    if (keysOfKind) void synced.then(() => this.#queue?.addAll(keysOfKind(kind)));
  }

  #watch(watched: Watched): Informer<KubeObject> {
    const informer = this.#context.informers.informerFor(watched.resource, watched.scope);
    this.#watches = [...this.#watches, { watched, lister: informer.lister }];
    informer.addEventHandler({
      onAdd: (object) => this.#enqueue(watched, object),
      onUpdate: (object, old) => this.#enqueue(watched, old, object),
      onDelete: (object) => this.#enqueue(watched, object),
    });
    return informer;
  }

  /**
   * Runs until the signal aborts. Only one run at a time is allowed; the controller may be run again
   * afterwards.
   */
  async run(signal: AbortSignal): Promise<void> {
    const queue = new WorkQueue<ObjectKey>(
      this.#context.clock,
      this.#options.retry,
      this.#definition.urgencyOf,
    );
    const { queues } = this.#context;
    if (queues) queue.observedBy(queues.observe(this.name, () => queue.state));
    this.#queue = queue;
    const unlink = onAbort(signal, () => queue.shutDown());
    for (const { watched, lister } of this.#watches) {
      for (const [index, object] of lister.list().entries()) {
        if (index % objectsPerPiece === 0) await this.#nextPiece();
        this.#enqueue(watched, object);
      }
    }
    const workers = Array.from({ length: this.#definition.workers ?? 4 }, () => this.#work(queue, signal));
    try {
      await Promise.all(workers);
    } finally {
      unlink();
      queue.shutDown();
      this.#queue = undefined;
    }
  }

  /**
   * Enqueues each key once, even if the old and the new state share it. A waiting worker takes a key as soon
   * as it is added.
   */
  #enqueue(watched: Watched, ...objects: readonly KubeObject[]): void {
    if (!this.#queue) return;
    const keys = new Set<ObjectKey>();
    try {
      for (const object of objects) for (const key of watched.keys(object)) keys.add(key);
    } catch (error) {
      this.#log.error('the key function threw; it must not', {
        resource: watched.resource.plural,
        error: errorMessage(error),
      });
    }
    this.#traces?.queued(keys);
    this.#queue.addAll(keys);
  }

  async #work(queue: WorkQueue<ObjectKey>, signal: AbortSignal): Promise<void> {
    let count = 0;
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      await this.#nextPiece();
      try {
        if (!signal.aborted) await this.#reconcile(queue, key, signal);
      } finally {
        queue.done(key);
      }
      if (++count % keysPerTurn === 0) await nextTurn(this.#context.clock);
    }
  }

  async #reconcile(queue: WorkQueue<ObjectKey>, key: ObjectKey, signal: AbortSignal): Promise<void> {
    try {
      const result = await this.#reconciled(key, signal);
      queue.forget(key);
      if (result?.requeueAfter !== undefined) queue.addAfter(key, result.requeueAfter);
    } catch (error) {
      if (signal.aborted) this.#log.debug('stopped while reconciling', { key, error: errorMessage(error) });
      else this.#failed(queue, key, error);
    }
  }

  #reconciled(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { loopMeter } = this.#context;
    loopMeter?.mark({ kind: 'controller', describe: () => ({ controller: this.name, key }) });
    const work = () => this.#definition.reconcile(key, signal);
    if (!this.#traces) return work();
    // The first watched kind is the kind that the key refers to.
    return this.#traces.during(key, this.#watches[0]?.lister.get(key), work);
  }

  #failed(queue: WorkQueue<ObjectKey>, key: ObjectKey, error: unknown): void {
    if (error instanceof TerminalError) {
      queue.forget(key);
      this.#log.error('reconcile failed; not trying again until something changes', {
        key,
        error: errorMessage(error),
      });
      return;
    }
    const retryMs = queue.addRateLimited(key);
    const fields = { key, error: errorMessage(error), retryMs };
    // A conflict or a terminating namespace only shows that the cache was behind; the event will arrive.
    if (isConflict(error)) this.#log.debug('reconcile met a newer object; trying again', fields);
    else if (isNamespaceTerminating(error)) this.#log.debug('the namespace is being deleted', fields);
    else this.#log.warn('reconcile failed; trying again', fields);
  }
}
