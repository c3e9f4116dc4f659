/** Records the occurrences that Triggers watch for as TriggerEvents, and delivers these to their targets. */
import { createHash } from 'node:crypto';
import { nodeResource } from '../../../api/core/v1/node/node.ts';
import { serviceAccountResource } from '../../../api/core/v1/service-account/service-account.ts';
import { persistentVolumeResource } from '../../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../api/core/v1/volume/persistent-volume-claim.ts';
import { deepEqual, sortKeys } from '../../../apimachinery/equality.ts';
import { controllerOf, isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Client } from '../../../client/client.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { functionResource } from '../../functions/api/function.ts';
import { workflowResource } from '../../workflows/api/workflow.ts';
import { folderWatchResource } from '../api/folder-watch.ts';
import { sourceOf, type Trigger, triggerResource } from '../api/trigger.ts';
import { type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { eventDraft, type Happening } from '../api/trigger-event-draft.ts';
import { triggerAt } from '../api/trigger-path.ts';
import { Backlog, eventsByTrigger, triggerOf } from './backlog.ts';
import { planCron, scheduledHappening } from './cron-plan.ts';
import { Deliveries } from './deliveries.ts';
import { type DeliveryPlan, planDeliveries } from './delivery-plan.ts';
import { FileSource, triggerOfWatch } from './file-source.ts';
import { ObjectSource } from './object-source.ts';
import { type Position, type Problem, planStatus, positionOf } from './status-plan.ts';
import { type CallFunction, Targets } from './targets.ts';

export interface TriggerOptions {
  readonly callFunction: CallFunction;
  /** Returns a client with the rights of a ServiceAccount. */
  readonly clientOf: (namespace: string, account: string) => Client;
}

/** Minimum milliseconds between two writes of the counts and of a source's position. */
const writeEvery = 1000;
/**
 * Minimum milliseconds between two writes of the position of a source without events. It is well below the
 * time after which the store discards its history.
 */
const markEvery = 120_000;

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

export const triggerController =
  (options: TriggerOptions): ControllerFactory =>
  (context) =>
    define(options, context);

interface Sourced {
  readonly problem?: Problem | undefined;
  readonly again?: number | undefined;
  readonly position?: Position | undefined;
  /** Additional message for a ready trigger. */
  readonly detail?: string | undefined;
  /** True if the source waits for room at another place. */
  readonly waits?: boolean;
}

function define(options: TriggerOptions, context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers, kinds } = context;
  const informer = informers.informerFor(triggerResource);
  const triggers = informer.lister;
  const eventInformer = informers.informerFor(triggerEventResource);
  const functions = informers.informerFor(functionResource).lister;
  const workflows = informers.informerFor(workflowResource).lister;
  const accounts = informers.informerFor(serviceAccountResource).lister;
  const backlog = new Backlog(eventInformer);
  const [claims, volumes, nodes] = [
    informers.informerFor(persistentVolumeClaimResource).lister,
    informers.informerFor(persistentVolumeResource).lister,
    informers.informerFor(nodeResource).lister,
  ];
  const watches = informers.informerFor(folderWatchResource);
  const files = new FileSource({ client, claims, volumes, nodes, watches, digest });
  const ownWrites = new ObservedWrites(client, triggerResource, informer);
  const targets = new Targets({ ...context, ...options, functions, workflows });
  const sources = new Map<ObjectKey, { readonly id: string; readonly source: ObjectSource }>();
  /** Time of the last write of the status, in milliseconds of the monotonic clock. */
  const writtenAt = new Map<ObjectKey, number>();
  let enqueue: (keys: Iterable<ObjectKey>) => void = () => undefined;
  const deliveries = new Deliveries({
    ...context,
    deliver: (trigger, event, signal) => targets.deliver(trigger, event, signal),
    onChange: (keys) => enqueue(keys),
  });
  eventInformer.addEventHandler({ onDelete: (event) => deliveries.gone(event) });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const trigger = triggers.get(key);
    if (!trigger || isTerminating(trigger)) {
      forget(key);
      return undefined;
    }
    const now = clock.now();
    if (!(await ownWrites.settled(key, now))) return { requeueAfter: verifyAfter };
    const position = positionOf(
      trigger,
      digest(JSON.stringify(sortKeys(sourceIdentity(trigger)))).slice(0, 16),
      rfc3339(now),
    );
    const plan = deliver(key, trigger, signal, now);
    for (const dead of plan.discard) await deliveries.discard(trigger, dead);
    const sourced = await tell(key, trigger, position, signal, now);
    const again = await writeStatus(key, trigger, plan, sourced, now);
    const times = [plan.again, sourced.again, again].filter((ms) => ms !== undefined);
    return times.length === 0 ? undefined : { requeueAfter: Math.min(...times) };
  }

  function forget(key: ObjectKey): void {
    stopSource(key);
    deliveries.forget(key);
    backlog.forget(key);
    writtenAt.delete(key);
  }

  function deliver(key: ObjectKey, trigger: Trigger, signal: AbortSignal, now: number): DeliveryPlan {
    const own = eventInformer.lister
      .byIndex(eventsByTrigger, key)
      .filter((event) => controllerOf(event)?.uid === trigger.metadata.uid);
    const plan = planDeliveries(trigger, own, {
      now,
      underWay: deliveries.underWay(key),
      free: deliveries.roomFor(key),
      isBusy: (event) => deliveries.isBusy(key, event),
    });
    for (const event of plan.start) deliveries.begin(trigger, event, signal);
    if (plan.waiting > 0 && deliveries.roomFor(key) === 0) deliveries.wait(key);
    return plan;
  }

  /** Collects the events of the source, and returns its position and problems. */
  async function tell(
    key: ObjectKey,
    trigger: Trigger,
    position: Position | undefined,
    signal: AbortSignal,
    now: number,
  ): Promise<Sourced> {
    if (trigger.spec.object === undefined || !position) stopSource(key);
    if (trigger.spec.file === undefined || !position) await files.stop(key);
    if (!position) {
      return {
        problem: { reason: 'Suspended', message: 'spec.suspend is true: nothing is told or delivered' },
      };
    }
    if (trigger.spec.cron) return tellTimes(key, trigger, position, now);
    if (trigger.spec.object) return tellObjects(key, trigger, position, signal);
    if (trigger.spec.file) return { position, ...(await files.tell(key, trigger, position)) };
    const taken = pathTaken(trigger);
    if (taken) return { position, problem: taken };
    const of = trigger.spec.result?.function;
    if (of !== undefined && !functions.get(`${trigger.metadata.namespace}/${of}`)) {
      const message = `spec.result.function: there is no function ${JSON.stringify(of)} in the namespace`;
      return { position, problem: { reason: 'FunctionMissing', message } };
    }
    return { position };
  }

  /**
   * Returns the problem of a trigger whose path is taken. Of two triggers with one path the older one has it.
   */
  function pathTaken({ metadata: { namespace, name }, spec: { http } }: Trigger): Problem | undefined {
    const first = http && triggerAt(triggers.list(namespace), http.path);
    if (!first || first.metadata.name === name) return undefined;
    const message = `trigger ${JSON.stringify(first.metadata.name)} has the path ${http.path}`;
    return { reason: 'PathTaken', message };
  }

  async function tellTimes(
    key: ObjectKey,
    trigger: Trigger,
    position: Position,
    now: number,
  ): Promise<Sourced> {
    const { cron } = trigger.spec;
    if (!cron) return { position };
    const { due, missed, again } = planCron(cron, position, now);
    if (missed !== undefined)
      events.event(
        trigger,
        'Warning',
        'MissSchedule',
        `it is too late for what was due at ${rfc3339(missed)}`,
      );
    if (due === undefined && missed === undefined && again === undefined) {
      const message = `spec.cron.schedule: ${JSON.stringify(cron.schedule)} is never due`;
      return { position, problem: { reason: 'NeverDue', message } };
    }
    if (due !== undefined) {
      // The end of a delivery enqueues the trigger again.
      if (backlog.isFull(key)) return { position };
      await store(trigger, scheduledHappening(trigger, due));
    }
    const last = due ?? missed;
    return {
      position: last === undefined ? position : { ...position, lastScheduleTime: rfc3339(last) },
      again,
    };
  }

  function tellObjects(key: ObjectKey, trigger: Trigger, position: Position, signal: AbortSignal): Sourced {
    const { object, serviceAccountName } = trigger.spec;
    const { namespace = '', uid } = trigger.metadata;
    const definition = kinds.all.find(
      (one) =>
        apiVersionOf(one) === object?.apiVersion &&
        one.kind === object.kind &&
        !one.isReview &&
        !one.isMeasured,
    );
    if (!definition) {
      stopSource(key);
      const message = `spec.object: ${object?.apiVersion} ${object?.kind} is not served, or cannot be watched`;
      return { position, problem: { reason: 'KindNotServed', message } };
    }
    if (!accounts.get(`${namespace}/${serviceAccountName}`)) {
      stopSource(key);
      const message = `spec.serviceAccountName: there is no account ${JSON.stringify(serviceAccountName)} in the namespace`;
      return { position, problem: { reason: 'AccountMissing', message } };
    }
    const id = JSON.stringify([uid, position.of, definition.plural]);
    if (sources.get(key)?.id !== id) {
      stopSource(key);
      const source = new ObjectSource(
        {
          trigger,
          definition,
          resourceVersion: position.resourceVersion ?? trigger.metadata.resourceVersion,
          at: Date.parse(position.resourceTime ?? position.since),
          client: options.clientOf(namespace, serviceAccountName),
          clock,
          random: context.random,
          isFull: () => backlog.isFull(key),
          room: (until) => backlog.room(key, until),
          store: (happening) => store(trigger, happening),
          onChange: () => enqueue([key]),
        },
        signal,
      );
      sources.set(key, { id, source });
    }
    const { source } = sources.get(key) ?? {};
    return {
      problem: source?.problem,
      position: {
        ...position,
        ...(source && { resourceVersion: source.resourceVersion, resourceTime: rfc3339(source.at) }),
      },
    };
  }

  function stopSource(key: ObjectKey): void {
    sources.get(key)?.source.stop();
    sources.delete(key);
  }

  /** Stores an occurrence as a TriggerEvent, at most once, however often it is reported. */
  async function store(trigger: Trigger, happening: Happening): Promise<void> {
    try {
      backlog.stored(
        await client.resource(triggerEventResource).create(eventDraft(trigger, happening, digest)),
      );
    } catch (error) {
      if (isAlreadyExists(error)) return;
      // The namespace is going away, so the event would not be delivered.
      if (isNamespaceTerminating(error) || isNotFound(error)) return;
      throw error;
    }
  }

  /** Writes the status. Returns the milliseconds after which it must be written if it is too early now. */
  async function writeStatus(
    key: ObjectKey,
    trigger: Trigger,
    plan: DeliveryPlan,
    sourced: Sourced,
    now: number,
  ): Promise<number | undefined> {
    const { source } = sources.get(key) ?? {};
    const counts = { ...deliveries.counts(key) };
    const status = planStatus(trigger, {
      counts,
      pending: plan.pending,
      deadLetters: plan.deadLetters,
      position: sourced.position,
      problem: sourced.problem ?? targets.problemOf(trigger),
      waits: backlog.waits(key) || sourced.waits === true,
      detail: sourced.detail,
      missed: source?.missed,
      timestamp: rfc3339(now),
    });
    const isMark = source !== undefined && !source.hasTold && isOnlyMark(trigger, status);
    const at = clock.monotonic();
    const since = at - (writtenAt.get(key) ?? Number.NEGATIVE_INFINITY);
    if (deepEqual(status, trigger.status)) return undefined;
    const hasNews = !deepEqual(status.position?.lastScheduleTime, trigger.status?.position?.lastScheduleTime);
    const every = isMark ? markEvery : hasNews ? 0 : writeEvery;
    if (since < every) return every - since;
    if (source) source.hasTold = false;
    writtenAt.set(key, at);
    const written = await ifPresent(client.resource(triggerResource).updateStatus({ ...trigger, status }));
    if (!written) return undefined;
    deliveries.written(key, counts);
    ownWrites.written(key, written, now);
    announce(trigger, status);
    return undefined;
  }

  function announce(trigger: Trigger, { conditions = [] }: NonNullable<Trigger['status']>): void {
    for (const { type, status, reason = '', message = '' } of conditions) {
      const isTrouble = (type === 'Ready') === (status === 'False') && reason !== 'Suspended';
      const before = trigger.status?.conditions?.find((one) => one.type === type);
      if (isTrouble && before?.message !== message) events.event(trigger, 'Warning', reason, message);
    }
  }

  /** Returns the keys of the triggers that match, in one namespace or in all. */
  const triggersOf = (namespace: string | undefined, isMeant: (trigger: Trigger) => boolean) =>
    triggers.list(namespace).filter(isMeant).map(objectKey);

  return {
    name: 'trigger',
    workers: 8,
    watches: [
      watched(triggerResource, (trigger) =>
        trigger.spec.http
          ? triggersOf(
              trigger.metadata.namespace,
              ({ spec }) => spec.http?.path === trigger.spec.http?.path,
            ).concat(objectKey(trigger))
          : [objectKey(trigger)],
      ),
      watched(triggerEventResource, (event: TriggerEvent) => [triggerOf(event)]),
      watched(functionResource, ({ metadata: { namespace, name } }) =>
        triggersOf(namespace, ({ spec }) => spec.target.name === name || spec.result?.function === name),
      ),
      watched(serviceAccountResource, ({ metadata: { namespace, name } }) =>
        triggersOf(namespace, ({ spec }) => spec.object !== undefined && spec.serviceAccountName === name),
      ),
      watched(folderWatchResource, (watch) => [triggerOfWatch(watch)]),
      watched(persistentVolumeClaimResource, ({ metadata: { namespace, name } }) =>
        triggersOf(namespace, ({ spec }) => spec.file?.claimName === name),
      ),
      watched(persistentVolumeResource, ({ spec: { claimRef } }) =>
        claimRef ? triggersOf(claimRef.namespace, ({ spec }) => spec.file?.claimName === claimRef.name) : [],
      ),
      watched(nodeResource, () => triggersOf(undefined, ({ spec }) => spec.file !== undefined)),
      watched(workflowResource, ({ metadata: { namespace, name } }) =>
        triggersOf(namespace, ({ spec }) => spec.target.name === name),
      ),
    ],
    // The sources watch objects with their triggers' own accounts; this only detects new kinds.
    watchOf: ({ kind }) => {
      enqueue(triggersOf(undefined, ({ spec }) => spec.object?.kind === kind));
      return undefined;
    },
    onAttach: (add) => {
      enqueue = add;
    },
    reconcile,
  };
}

/** Returns the fields that identify a source; a change of them restarts the source. */
function sourceIdentity({ spec }: Trigger): unknown {
  const name = sourceOf({ spec } as Trigger);
  return [name, name && spec[name], name === 'object' ? spec.serviceAccountName : undefined];
}

/** Returns true if only the position in the history has changed. */
function isOnlyMark(trigger: Trigger, status: NonNullable<Trigger['status']>): boolean {
  const without = ({ position, ...rest }: NonNullable<Trigger['status']>) => ({
    ...rest,
    position: position?.of,
  });
  return trigger.status !== undefined && deepEqual(without(status), without(trigger.status));
}
