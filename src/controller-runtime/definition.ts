/**
 * Definition of a controller: a level-triggered `reconcile(key)`. Informer events only enqueue keys.
 * Reconcile reads the cache, converges, tolerates being run twice and does not depend on which event enqueued
 * the key. A key is never reconciled twice at once. An error is retried with back-off; a TerminalError is not
 * retried before an object changes.
 */

import type { AccountRights } from '../api/rbac/v1/rule-rows.ts';
import type { ExtensionKind, ExtensionKinds } from '../apimachinery/extension-kinds.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import type { ResourceDefinition, ResourceRef } from '../apimachinery/resource-definition.ts';
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Client } from '../client/client.ts';
import type { InformerFactory, InformerScope } from '../client/informer.ts';
import type { EventRecorder } from './events.ts';
import type { QueueMetrics } from './queue-metrics.ts';

export interface ReconcileResult {
  /** Milliseconds until this key is reconciled again, whether or not anything changes. */
  readonly requeueAfter?: number;
}

export interface Watched<T extends KubeObject = KubeObject> {
  readonly resource: ResourceRef<T>;
  /** Limits the watch to some objects of the kind; default: all. */
  readonly scope?: InformerScope;
  /** Returns the keys to enqueue for a changed object. Called for the old and the new state of an update. */
  readonly keys: (object: T) => readonly ObjectKey[];
}

export interface ControllerDefinition {
  readonly name: string;
  readonly watches: readonly Watched[];
  /**
   * Returns what to watch of a stored kind, or undefined to ignore the kind. Also called for kinds that are
   * added later.
   */
  readonly watchOf?: (kind: ResourceDefinition) => Watched | undefined;
  /**
   * Returns what to watch of a kind of an extension server, or undefined to ignore the kind. The run does not
   * wait until such kinds have been listed, because their server may hang.
   */
  readonly watchOfExtension?: (kind: ExtensionKind) => Watched | undefined;
  /**
   * Returns the keys to enqueue once all objects of a kind that `watchOf` watches have been listed. The kind
   * may have no objects.
   */
  readonly keysOfKind?: (kind: ResourceDefinition) => readonly ObjectKey[];
  /**
   * True if the controller can begin once a new cluster has started: its work would delay the first node.
   * Default: false.
   */
  readonly startsLater?: boolean;
  /** Number of keys that are reconciled at once; default 4. */
  readonly workers?: number;
  /**
   * Returns the urgency of a key. Waiting keys with the highest number are reconciled first; default: all are
   * equal.
   */
  readonly urgencyOf?: (key: ObjectKey) => number;
  readonly reconcile: (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileResult | undefined>;
}

/** Dependencies of every controller. Listers come from `informers` and are synced before reconcile runs. */
export interface ControllerContext extends SharedContext {
  /** Enqueues keys from sources other than `watches`. Keys are dropped while the controller does not run. */
  readonly enqueue: (keys: Iterable<ObjectKey>) => void;
}

/** Part of the context that all controllers of a manager share. */
export interface SharedContext {
  readonly client: Client;
  readonly informers: InformerFactory;
  readonly kinds: Kinds;
  /** Kinds of extension servers; default none. */
  readonly extensionKinds?: ExtensionKinds;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Registry that measures the queues; default: queues are not measured. */
  readonly queues?: QueueMetrics;
  /** Meter of what occupies the event loop; default: nothing is measured. */
  readonly loopMeter?: LoopMeter;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer;
}

export type ControllerFactory = (context: ControllerContext) => ControllerDefinition;

/**
 * A controller and the kube-system ServiceAccount under which it reads and writes. The roles of that account
 * authorize its requests.
 */
export interface AccountedController {
  readonly account: string;
  /** Component named as the source of its events; default: the name of the account. */
  readonly eventSource?: string;
  readonly controller: ControllerFactory;
}

/**
 * A controller in a list, before the options are known: the roles of its account are derived from `rights`,
 * whether or not the controller runs. Several entries may share an account, which gets the rights of all.
 */
export interface ControllerEntry<in Options = object> extends Omit<AccountedController, 'controller'> {
  readonly rights: AccountRights;
  /**
   * Creates the controller; returns undefined if the options leave it out. Called once for a control plane,
   * before any term: metrics of the controller are added to `metrics`, the controllers' page, here.
   */
  readonly controller: (options: Options, metrics: Registry) => ControllerFactory | undefined;
}

/** Returns the controllers that run with these options; their own metrics are added to `metrics`. */
export const controllersWith = <Options>(
  entries: readonly ControllerEntry<Options>[],
  options: Options,
  metrics: Registry,
): readonly AccountedController[] =>
  entries.flatMap(({ rights: _, ...entry }) => {
    const controller = entry.controller(options, metrics);
    return controller ? [{ ...entry, controller }] : [];
  });

/** Pairs a watched kind with a key function of the kind's own type. */
export function watched<T extends KubeObject>(
  resource: ResourceRef<T>,
  keys: (object: T) => readonly ObjectKey[],
  scope?: InformerScope,
): Watched {
  return { resource, keys: keys as (object: KubeObject) => readonly ObjectKey[], ...(scope && { scope }) };
}

/** An error for which a retry cannot succeed until an object changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}
