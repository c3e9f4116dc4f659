/**
 * What a controller is: level-triggered `reconcile(key)`. Informer events only enqueue keys; reconcile reads
 * the cache, converges, tolerates being run twice and never learns which event woke it. A key is never worked
 * on twice at once. A throw means: try again with back-off; TerminalError: not before something changes.
 */

import type { Kinds } from '../apimachinery/kind-set.ts';
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import type { ResourceDefinition, ResourceRef } from '../apimachinery/resource-definition.ts';
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Client } from '../client/client.ts';
import type { InformerFactory, InformerScope } from '../client/informer.ts';
import type { EventRecorder } from './events.ts';
import type { QueueMetrics } from './queue-metrics.ts';

export interface ReconcileResult {
  /** Milliseconds until this key is looked at again, whether or not anything changes. */
  readonly requeueAfter?: number;
}

export interface Watched<T extends KubeObject = KubeObject> {
  readonly resource: ResourceRef<T>;
  /** Only these objects of the kind; default all. */
  readonly scope?: InformerScope;
  /** The keys to enqueue for a changed object; called for the old and the new state of an update. */
  readonly keys: (object: T) => readonly ObjectKey[];
}

export interface ControllerDefinition {
  readonly name: string;
  readonly watches: readonly Watched[];
  /** What is watched of each kind there is, also of those that come later; undefined for nothing. */
  readonly watchOf?: (kind: ResourceDefinition) => Watched | undefined;
  /** The keys to enqueue once all objects are known of a kind that `watchOf` watches; there may be none. */
  readonly keysOfKind?: (kind: ResourceDefinition) => readonly ObjectKey[];
  /** How many keys are worked on at once; default 4. */
  readonly workers?: number;
  /** Of the keys that wait, those of the highest number are worked on first; default: all are alike. */
  readonly urgencyOf?: (key: ObjectKey) => number;
  /** Called once, with what enqueues keys from outside of `watches`; keys are dropped while the controller does not run. */
  readonly onAttach?: (enqueue: (keys: Iterable<ObjectKey>) => void) => void;
  readonly reconcile: (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileResult | undefined>;
}

/** What every controller is built from; listers come from `informers` and are synced before reconcile runs. */
export interface ControllerContext {
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly kinds: Kinds;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where queues are measured; default nowhere. */
  readonly queues?: QueueMetrics;
  /** Measures what holds the event loop; default nothing does. */
  readonly loopMeter?: LoopMeter;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer;
}

export type ControllerFactory = (context: ControllerContext) => ControllerDefinition;

/** A controller and the ServiceAccount of kube-system as which it asks and writes: it may do what the roles of that allow. */
export interface AccountedController {
  readonly account: string;
  /** Which component its events are of; default: as the account is called. */
  readonly eventSource?: string;
  readonly controller: ControllerFactory;
}

/** Ties a watched kind to its key function with the kind's own type. */
export function watched<T extends KubeObject>(
  resource: ResourceRef<T>,
  keys: (object: T) => readonly ObjectKey[],
  scope?: InformerScope,
): Watched {
  return { resource, keys: keys as (object: KubeObject) => readonly ObjectKey[], ...(scope && { scope }) };
}

/** Retrying will not help until an object changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}
