/**
 * Syncs every HorizontalPodAutoscaler once a period, all at the same moment, so that the usage of pods is
 * requested once. The history of recommendations and changes is kept only in memory: after a change of the
 * leader a window begins anew, from the existing replicas.
 */

import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { intervalSeconds } from '../../api/autoscaling/v2/scale-interval.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import { inTurns, type NextPiece } from '../../base/event-loop/pieces.ts';
import { errorMessage } from '../../base/log.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import {
  afterScaling,
  type Measured,
  type Outcome,
  outcomesOf,
  planAutoscaler,
  type Target,
} from './autoscaler-plan.ts';
import { type History, noHistory } from './behavior-plan.ts';
import type { AutoscalerStatus } from './conditions-plan.ts';
import { type MetricSource, OutsideMetrics } from './outside-metrics.ts';
import { PodUses } from './pod-uses.ts';
import { ScaleTargets } from './scale-targets.ts';

export const horizontalRights: AccountRights = {
  kubernetes: [
    [read, 'autoscaling', 'horizontalpodautoscalers'],
    ['update', 'autoscaling', 'horizontalpodautoscalers/status'],
    ['get update', '*', '*/scale'],
    ['list watch', 'core', 'pods'],
    ['list watch', 'metrics.k8s.io', 'pods'],
    [read, 'custom.metrics.k8s.io', '*'],
    [read, 'external.metrics.k8s.io', '*'],
    writeEvents,
  ],
  // The autoscaler reads its targets from a cache and changes only the number of replicas.
  own: [
    ['patch', '*', '*/scale'],
    [read, 'apps', 'deployments replicasets statefulsets'],
    [read, 'core', 'replicationcontrollers'],
  ],
};

export interface AutoscalingOptions {
  /** Milliseconds between two syncs; default 15 s. */
  readonly syncPeriodMs?: number | undefined;
  /** Maximum deviation of the usage from its target without scaling; default 0.1. */
  readonly tolerance?: number | undefined;
  /**
   * Source of metrics of pods, of objects and from outside. Without it such metrics are reported as unknown.
   */
  readonly metricSource?: MetricSource | undefined;
}

interface Memory {
  readonly uid: string;
  readonly spec: HorizontalPodAutoscaler['spec'];
  /** Sync period in milliseconds. */
  readonly period: number;
  readonly history: History;
  /** Monotonic time of the next sync. */
  readonly due: number;
}

export const horizontalController =
  (options: AutoscalingOptions): ControllerFactory =>
  (context) =>
    new HorizontalController(context, options).definition();

class HorizontalController {
  readonly #context: ControllerContext;
  readonly #syncPeriodMs: number;
  readonly #tolerance: number;
  readonly #autoscalers: Lister<HorizontalPodAutoscaler>;
  readonly #targets: ScaleTargets;
  readonly #uses: PodUses;
  readonly #outside: OutsideMetrics;
  readonly #memories = new Map<ObjectKey, Memory>();
  readonly #nextPiece: NextPiece;

  constructor(context: ControllerContext, options: AutoscalingOptions) {
    const { informers, client, clock } = context;
    this.#context = context;
    this.#syncPeriodMs = options.syncPeriodMs ?? 15_000;
    this.#tolerance = options.tolerance ?? 0.1;
    this.#autoscalers = informers.informerFor(horizontalPodAutoscalerResource).lister;
    this.#targets = new ScaleTargets(context);
    this.#uses = new PodUses(client, clock);
    this.#outside = new OutsideMetrics(options.metricSource, clock);
    this.#nextPiece = inTurns(clock);
  }

  definition(): ControllerDefinition {
    return {
      name: 'horizontal-pod-autoscaler',
      workers: 8,
      watches: [
        watched(horizontalPodAutoscalerResource, (hpa) => [objectKey(hpa)]),
        ...this.#targets.watches,
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock } = this.#context;
    const hpa = this.#autoscalers.get(key);
    if (!hpa || isTerminating(hpa)) {
      this.#memories.delete(key);
      return undefined;
    }
    const passed = clock.monotonic();
    const memory = this.#memories.get(key);
    const known = memory?.uid === hpa.metadata.uid ? memory : undefined;
    const period = periodOf(hpa, this.#syncPeriodMs);
    // An update of the autoscaler's own status also enqueues it.
    const left = known ? untilDue(known, hpa, period, passed) : 0;
    if (left > 0) return { requeueAfter: left };
    const due = (Math.floor(passed / period) + 1) * period;
    const looked = await this.#look(hpa, known?.history ?? noHistory, passed);
    if (!looked) return undefined;
    const { history, status } = looked;
    this.#memories.set(key, { uid: hpa.metadata.uid, spec: hpa.spec, period, history, due });
    if (!deepEqual(status, hpa.status)) await this.#writeStatus(hpa, status);
    return { requeueAfter: Math.max(0, due - clock.monotonic()) };
  }

  /**
   * Syncs the autoscaler. Returns undefined if it was changed in the meantime; that change enqueues it
   * again.
   */
  async #look(hpa: HorizontalPodAutoscaler, history: History, passed: number) {
    const { clock, events } = this.#context;
    const first = this.#targets.targetOf(hpa);
    const seen = await this.#measure(hpa, first);
    // Prometheus may have answered slowly, so the target is read again.
    const target = typeof first === 'string' ? first : this.#targets.targetOf(hpa);
    const { rivals } = seen;
    const now = clock.now();
    const outcomes =
      typeof target === 'string' || isDecided(target, rivals)
        ? []
        : await this.#outcomesIn(hpa, { ...seen, target, tolerance: this.#tolerance, now });
    const newest = this.#autoscalers.get(objectKey(hpa));
    if (newest?.metadata.uid !== hpa.metadata.uid || !deepEqual(newest.spec, hpa.spec)) return undefined;
    const plan = planAutoscaler(hpa, { target, outcomes, rivals, history, passed, now });
    for (const { type, reason, message } of plan.events) events.event(hpa, type, reason, message);
    const failure =
      plan.scaleTo === undefined ? undefined : await this.#scale(hpa, plan.scaleTo, plan.reason);
    return {
      // A change that failed is not recorded.
      history: failure === undefined ? plan.history : history,
      status: afterScaling(hpa, plan, failure, clock.now()),
    };
  }

  async #outcomesIn(hpa: HorizontalPodAutoscaler, measured: Measured): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const outcome of outcomesOf(hpa, measured)) {
      outcomes.push(outcome);
      await this.#nextPiece();
    }
    return outcomes;
  }

  async #measure(hpa: HorizontalPodAutoscaler, target: Target | string) {
    const selected = this.#targets.selectedBy(hpa, target);
    const { pods, autoscalers: rivals } =
      typeof selected === 'string' ? { pods: [], autoscalers: selected } : selected;
    const [metrics, readings] = await Promise.all([
      this.#uses.all(),
      isDecided(target, rivals)
        ? new Map()
        : this.#outside.read(hpa, pods, (kind) => this.#targets.singularOf(kind)),
    ]);
    return { pods, rivals, metrics, readings, podLabel: this.#outside.podLabel };
  }

  async #writeStatus(hpa: HorizontalPodAutoscaler, status: AutoscalerStatus): Promise<void> {
    const { client } = this.#context;
    const resource = client.resource(horizontalPodAutoscalerResource);
    const { name, namespace, uid } = hpa.metadata;
    try {
      await ifPresent(resource.updateStatus({ ...deepCopy(hpa), status }));
    } catch (error) {
      if (!isConflict(error)) throw error;
      const newest = await ifPresent(resource.get(name, namespace));
      if (newest?.metadata.uid === uid) await ifPresent(resource.updateStatus({ ...newest, status }));
    }
  }

  /** Scales the target. Returns the reason of a failure, or undefined. */
  async #scale(hpa: HorizontalPodAutoscaler, replicas: number, why: string): Promise<string | undefined> {
    const { client, events } = this.#context;
    const change = `New size: ${replicas}; reason: ${why}`;
    const kind = this.#targets.kindOf(hpa);
    if (!kind) return undefined;
    const { name } = hpa.spec.scaleTargetRef;
    const body = { spec: { replicas } };
    try {
      await client.resource(kind).patch(name, hpa.metadata.namespace ?? '', 'merge', body, 'scale');
      events.event(hpa, 'Normal', 'SuccessfulRescale', change);
      return undefined;
    } catch (error) {
      const message = errorMessage(error);
      events.event(hpa, 'Warning', 'FailedRescale', `${change}; error: ${message}`);
      return message;
    }
  }
}

/** Returns true if no metric is needed for the decision. */
const isDecided = (target: Target | string, rivals: readonly ObjectKey[] | string) =>
  typeof target === 'string' || target.replicas === 0 || typeof rivals === 'string' || rivals.length !== 1;

function periodOf({ metadata }: HorizontalPodAutoscaler, standard: number): number {
  const seconds = intervalSeconds(metadata);
  return seconds === undefined ? standard : seconds * 1000;
}

/** Returns the milliseconds until the next sync. An autoscaler that was changed is due at once. */
const untilDue = (known: Memory, { spec }: HorizontalPodAutoscaler, period: number, now: number): number =>
  known.period === period && deepEqual(known.spec, spec) ? known.due - now : 0;
