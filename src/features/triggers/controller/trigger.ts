/**
 * Records the occurrences that Triggers watch for as TriggerEvents, and delivers the events to their targets.
 */
import { createHash } from 'node:crypto';
import { nodeResource } from '../../../api/core/v1/node/node.ts';
import { serviceAccountResource } from '../../../api/core/v1/service-account/service-account.ts';
import { persistentVolumeResource } from '../../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { sortKeys } from '../../../apimachinery/equality.ts';
import {
  controllerOf,
  isTerminating,
  type KubeObject,
  type ObjectKey,
  objectKey,
} from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Client } from '../../../client/client.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { functionResource } from '../../functions/api/function.ts';
import { workflowResource } from '../../workflows/api/workflow.ts';
import { folderWatchResource } from '../api/folder-watch.ts';
import { sourceOf, type Trigger, triggerResource } from '../api/trigger.ts';
import { type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { Backlog, eventsByTrigger, triggerOf } from './backlog.ts';
import { CronSource } from './cron-source.ts';
import { Deliveries } from './deliveries.ts';
import { type DeliveryPlan, planDeliveries } from './delivery-plan.ts';
import { EventStore } from './event-store.ts';
import { FileSource, triggerOfWatch } from './file-source.ts';
import { ObjectSources } from './object-sources.ts';
import { HttpSource, ResultSource, Sources } from './sources.ts';
import { positionOf } from './status-plan.ts';
import { StatusWriter } from './status-writer.ts';
import { type CallFunction, Targets } from './targets.ts';

/** Objects are watched with the accounts of the triggers, which requires no rights of the controller. */
export const triggerRights: AccountRights = {
  own: [
    [read, 'minik8s.io', 'functions triggers workflows'],
    ['update', 'minik8s.io', 'triggers/status'],
    ['get list watch create delete', 'minik8s.io', 'triggerevents'],
    ['patch', 'minik8s.io', 'triggerevents/status'],
    ['get list watch create delete', 'minik8s.io', 'folderwatches'],
    [read, 'core', 'nodes persistentvolumes persistentvolumeclaims'],
    ['create', 'minik8s.io', 'functions/invoke workflowruns'],
    writeEvents,
  ],
};

export interface TriggerOptions {
  readonly callFunction: CallFunction;
  /** Returns a client with the rights of a ServiceAccount. */
  readonly clientOf: (namespace: string, account: string) => Client;
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

export const triggerController =
  (options: TriggerOptions): ControllerFactory =>
  (context) =>
    define(options, context);

function define(options: TriggerOptions, context: ControllerContext): ControllerDefinition {
  const controller = new TriggerController(options, context);
  const triggersOf: TriggerController['triggersOf'] = (namespace, isMeant) =>
    controller.triggersOf(namespace, isMeant);

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
      controller.kindChanged(kind);
      return undefined;
    },
    reconcile: (key, signal) => controller.reconcile(key, signal),
  };
}

class TriggerController {
  readonly #clock: ControllerContext['clock'];
  readonly #triggers: Lister<Trigger>;
  readonly #events: Lister<TriggerEvent>;
  readonly #backlog: Backlog;
  readonly #targets: Targets;
  readonly #deliveries: Deliveries;
  readonly #sources: Sources;
  readonly #objects: ObjectSources;
  readonly #statuses: StatusWriter;
  readonly #enqueue: ControllerContext['enqueue'];

  constructor(options: TriggerOptions, context: ControllerContext) {
    const { client, clock, informers, enqueue } = context;
    this.#enqueue = enqueue;
    const lister = <T extends KubeObject>(kind: ResourceRef<T>) => informers.informerFor(kind).lister;
    const informer = informers.informerFor(triggerResource);
    const events = informers.informerFor(triggerEventResource);
    const functions = lister(functionResource);
    this.#clock = clock;
    this.#triggers = informer.lister;
    this.#events = events.lister;
    this.#backlog = new Backlog(events);
    this.#targets = new Targets({ ...context, ...options, functions, workflows: lister(workflowResource) });
    this.#deliveries = new Deliveries({
      ...context,
      deliver: (trigger, event, signal) => this.#targets.deliver(trigger, event, signal),
      onChange: enqueue,
    });
    events.addEventHandler({ onDelete: (event) => this.#deliveries.gone(event) });
    const store = new EventStore(client, this.#backlog, digest);
    this.#objects = new ObjectSources({
      ...context,
      ...options,
      accounts: lister(serviceAccountResource),
      backlog: this.#backlog,
      store,
      onChange: (key) => enqueue([key]),
    });
    this.#sources = new Sources({
      cron: new CronSource(context.events, this.#backlog, store),
      object: this.#objects,
      file: new FileSource({
        client,
        claims: lister(persistentVolumeClaimResource),
        volumes: lister(persistentVolumeResource),
        nodes: lister(nodeResource),
        watches: informers.informerFor(folderWatchResource),
        digest,
      }),
      http: new HttpSource(informer.lister),
      result: new ResultSource(functions),
    });
    this.#statuses = new StatusWriter({
      ...context,
      informer,
      deliveries: this.#deliveries,
      backlog: this.#backlog,
      targets: this.#targets,
    });
  }

  /** Enqueues the triggers whose source is of the kind. */
  kindChanged(kind: string): void {
    this.#enqueue(this.triggersOf(undefined, ({ spec }) => spec.object?.kind === kind));
  }

  /** Returns the keys of the triggers that match, in one namespace or in all. */
  triggersOf(namespace: string | undefined, isMeant: (trigger: Trigger) => boolean): ObjectKey[] {
    return this.#triggers.list(namespace).filter(isMeant).map(objectKey);
  }

  async reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const trigger = this.#triggers.get(key);
    if (!trigger || isTerminating(trigger)) {
      this.#forget(key);
      return undefined;
    }
    const now = this.#clock.now();
    if (!(await this.#statuses.settled(key, now))) return { requeueAfter: verifyAfter };
    const position = positionOf(
      trigger,
      digest(JSON.stringify(sortKeys(sourceIdentity(trigger)))).slice(0, 16),
      rfc3339(now),
    );
    const plan = this.#deliver(key, trigger, signal, now);
    for (const dead of plan.discard) await this.#deliveries.discard(trigger, dead);
    const report = await this.#sources.report({ key, trigger, position, signal, now });
    const again = await this.#statuses.write(key, trigger, plan, report, now);
    const times = [plan.again, report.again, again].filter((ms) => ms !== undefined);
    return times.length === 0 ? undefined : { requeueAfter: Math.min(...times) };
  }

  #forget(key: ObjectKey): void {
    // The folder watches of a deleted trigger are garbage-collected: it owns them.
    this.#objects.stop(key);
    this.#deliveries.forget(key);
    this.#backlog.forget(key);
    this.#statuses.forget(key);
  }

  #deliver(key: ObjectKey, trigger: Trigger, signal: AbortSignal, now: number): DeliveryPlan {
    const own = this.#events
      .byIndex(eventsByTrigger, key)
      .filter((event) => controllerOf(event)?.uid === trigger.metadata.uid);
    const plan = planDeliveries(trigger, own, {
      now,
      underWay: this.#deliveries.underWay(key),
      free: this.#deliveries.roomFor(key),
      isBusy: (event) => this.#deliveries.isBusy(key, event),
    });
    for (const event of plan.start) this.#deliveries.begin(trigger, event, signal);
    if (plan.waiting > 0 && this.#deliveries.roomFor(key) === 0) this.#deliveries.wait(key);
    return plan;
  }
}

/** Returns the fields that identify a source; a change of them restarts the source. */
function sourceIdentity({ spec }: Trigger): unknown {
  const name = sourceOf({ spec } as Trigger);
  return [name, name && spec[name], name === 'object' ? spec.serviceAccountName : undefined];
}
