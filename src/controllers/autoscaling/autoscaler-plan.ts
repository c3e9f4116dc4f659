/**
 * Plans the scaling, the status and the events of one HorizontalPodAutoscaler (upstream:
 * pkg/controller/podautoscaler/horizontal.go). Pure.
 */
import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { HPAScalingRules, MetricSpec, MetricStatus } from '../../api/autoscaling/v2/types.gen.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import { type History, type Limits, limit, remember } from './behavior-plan.ts';
import { type AutoscalerStatus, StatusDraft, setLimits } from './conditions-plan.ts';
import { type MetricTrouble, maxMetrics, proposalOf, troubleOf } from './metrics-plan.ts';
import type { Known, Proposal, Reading } from './proposal-plan.ts';
import { MetricFailure, type Tolerance } from './replicas-plan.ts';

export interface Target {
  readonly replicas: number;
  /** Number of existing replicas. */
  readonly current: number;
  /** Label selector in text form; empty if the scale reports none. */
  readonly selector: string;
}

export interface Situation {
  /** Target of the scaling; a text is the reason why it is unavailable. */
  readonly target: Target | string;
  /** Outcome of each metric; empty if the target alone decides. */
  readonly outcomes: readonly Outcome[];
  /**
   * All autoscalers of the same pods, including this one; a text is the reason why the selector cannot be
   * parsed.
   */
  readonly rivals: readonly ObjectKey[] | string;
  readonly history: History;
  /** Wall-clock time in milliseconds since the epoch. */
  readonly now: number;
  /** Monotonic time in milliseconds. */
  readonly passed: number;
}

/** Input from which the outcomes of the metrics are computed. */
export interface Measured
  extends Omit<Known, 'currentReplicas' | 'statusReplicas' | 'tolerance' | 'namespace'> {
  readonly target: Target;
  /** Readings of metrics from outside, keyed by the index of the metric. */
  readonly readings: ReadonlyMap<number, Reading>;
  readonly tolerance: number;
}

export type Outcome = Proposal | MetricTrouble;

export interface AutoscalerEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface AutoscalerPlan {
  /** Number of replicas to scale to; undefined to leave the scale unchanged. */
  readonly scaleTo: number | undefined;
  readonly reason: string;
  /** Status before the attempt to scale. */
  readonly status: AutoscalerStatus;
  readonly history: History;
  readonly events: readonly AutoscalerEvent[];
}

const usual: Limits = {
  min: 1,
  max: 1,
  up: {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  },
  down: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
};

export function planAutoscaler(hpa: HorizontalPodAutoscaler, situation: Situation): AutoscalerPlan {
  const { target, now, history } = situation;
  const before = { currentReplicas: 0, desiredReplicas: 0, ...hpa.status };
  const draft = new StatusDraft(before, rfc3339(now));
  if (typeof target === 'string') {
    draft.setCondition(
      'AbleToScale',
      'False',
      'FailedGetScale',
      `the HPA controller was unable to get the target's current scale: ${target}`,
    );
    const event: AutoscalerEvent = { type: 'Warning', reason: 'FailedGetScale', message: target };
    return { scaleTo: undefined, reason: '', status: draft.status(before), history, events: [event] };
  }
  draft.setCondition(
    'AbleToScale',
    'True',
    'SucceededGetScale',
    "the HPA controller was able to get the target's current scale",
  );
  const first =
    history.asked.length > 0 ? history : remember(history, stays(target.replicas), usual, situation.passed);
  const wish = wishOf(hpa, target, { ...situation, history: first }, draft);
  const replicas = wish.replicas ?? target.replicas;
  const { currentMetrics: _, ...rest } = before;
  const status = draft.status({
    ...rest,
    currentReplicas: target.replicas,
    desiredReplicas: wish.replicas === undefined ? before.desiredReplicas : replicas,
    ...(wish.metrics && { currentMetrics: wish.metrics }),
  });
  const scaleTo = replicas === target.replicas ? undefined : replicas;
  return { scaleTo, reason: wish.reason, status, history: wish.history, events: wish.events };
}

const stays = (replicas: number) => ({ asked: replicas, from: replicas, to: replicas });

/** Returns the status after the attempt to scale. */
export function afterScaling(
  hpa: HorizontalPodAutoscaler,
  { status, scaleTo }: AutoscalerPlan,
  failure: string | undefined,
  now: number,
): AutoscalerStatus {
  if (scaleTo === undefined) return status;
  const draft = new StatusDraft(status, rfc3339(now));
  if (failure !== undefined) {
    draft.setCondition(
      'AbleToScale',
      'False',
      'FailedUpdateScale',
      `the HPA controller was unable to update the target scale: ${failure}`,
    );
    return draft.status({ ...status, desiredReplicas: hpa.status?.desiredReplicas ?? 0 });
  }
  draft.setCondition(
    'AbleToScale',
    'True',
    'SucceededRescale',
    `the HPA controller was able to update the target scale to ${scaleTo}`,
  );
  return draft.status({ ...status, lastScaleTime: rfc3339(now) });
}

interface Wish {
  /** Undefined if no metric yields a number. */
  readonly replicas: number | undefined;
  readonly reason: string;
  readonly metrics?: MetricStatus[];
  readonly history: History;
  readonly events: readonly AutoscalerEvent[];
}

function wishOf(
  hpa: HorizontalPodAutoscaler,
  target: Target,
  situation: Situation,
  draft: StatusDraft,
): Wish {
  const { spec } = hpa;
  const { history } = situation;
  const min = spec.minReplicas;
  const fixed = (replicas: number, reason: string): Wish => ({ replicas, reason, history, events: [] });
  if (target.replicas === 0 && min !== 0) {
    const why = 'scaling is disabled since the replica count of the target is zero';
    draft.setCondition('ScalingActive', 'False', 'ScalingDisabled', why);
    return fixed(0, why);
  }
  if (target.replicas > spec.maxReplicas)
    return fixed(spec.maxReplicas, 'Current number of replicas above Spec.MaxReplicas');
  if (target.replicas < min) return fixed(min, 'Current number of replicas below Spec.MinReplicas');
  const trouble = selectorTrouble(target, situation);
  if (!trouble) return wishByMetrics(hpa, target, situation, draft);
  draft.setCondition('ScalingActive', 'False', trouble.condition, trouble.message);
  const events: AutoscalerEvent[] = [
    { type: 'Warning', reason: trouble.reason, message: trouble.eventMessage },
    { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: trouble.eventMessage },
  ];
  return { replicas: undefined, reason: '', history, events };
}

function selectorTrouble({ selector }: Target, { rivals }: Situation) {
  if (selector === '')
    return {
      condition: 'InvalidSelector',
      message: "the HPA target's scale is missing a selector",
      reason: 'SelectorRequired',
      eventMessage: 'selector is required',
    };
  if (typeof rivals === 'string') {
    const fault = `couldn't convert selector into a corresponding internal selector object: ${rivals}`;
    return { condition: 'InvalidSelector', message: fault, reason: 'InvalidSelector', eventMessage: fault };
  }
  if (rivals.length < 2) return undefined;
  const all = rivals.map((key) => `{${key.split('/').reverse().join(' ')}}`).join(' ');
  const message = `pods by selector ${selector} are controlled by multiple HPAs: [${all}]`;
  return { condition: 'AmbiguousSelector', message, reason: 'AmbiguousSelector', eventMessage: message };
}

function wishByMetrics(
  hpa: HorizontalPodAutoscaler,
  target: Target,
  situation: Situation,
  draft: StatusDraft,
): Wish {
  const { history, passed } = situation;
  const metrics = hpa.spec.metrics ?? [];
  const { outcomes } = situation;
  const proposals = outcomes.filter((one) => 'replicas' in one);
  const failures = outcomes.filter((one): one is MetricTrouble => !('replicas' in one));
  // The statuses are at the same index as their metrics.
  const statuses = outcomes.map((one): MetricStatus => ('replicas' in one ? one.status : { type: '' }));
  const best = proposals.reduce<Proposal | undefined>(
    (most, one) => (most && most.replicas >= one.replicas ? most : one),
    undefined,
  );
  const [failure] = failures;
  const events = failures.map(
    ({ reason, message }): AutoscalerEvent => ({ type: 'Warning', reason, message }),
  );
  // The metric that failed may be the one that requires the pods.
  if (!best || (failure && best.replicas < target.replicas)) {
    const message = `the HPA was unable to compute the replica count: ${failure?.message}`;
    draft.setCondition('ScalingActive', 'False', failure?.reason ?? 'InvalidMetricSourceType', message);
    const computed = `invalid metrics (${failures.length} invalid out of ${metrics.length}), first error is: ${failure?.among}`;
    const all: AutoscalerEvent[] = [
      ...events,
      { type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: computed },
    ];
    return { replicas: undefined, reason: '', metrics: statuses, history, events: all };
  }
  draft.setCondition(
    'ScalingActive',
    'True',
    'ValidMetricFound',
    `the HPA was able to successfully calculate a replica count from ${best.name}`,
  );
  const limits = limitsOf(hpa);
  const limited = limit(target.replicas, best.replicas, history, limits, passed);
  setLimits(draft, limited);
  const grows = limited.replicas > target.replicas;
  return {
    replicas: limited.replicas,
    reason: grows ? `${best.name} above target` : 'All metrics below target',
    metrics: statuses,
    history: remember(
      history,
      { asked: best.replicas, from: target.replicas, to: limited.replicas },
      limits,
      passed,
    ),
    events,
  };
}

const tooMany = new MetricFailure(`only the first ${maxMetrics} metrics of an autoscaler are evaluated`);

/** Yields the outcome of one metric after another, because each may examine ten thousand pods. */
export function* outcomesOf(hpa: HorizontalPodAutoscaler, measured: Measured): Generator<Outcome> {
  const { target, readings } = measured;
  const known: Known = {
    ...measured,
    namespace: hpa.metadata.namespace ?? '',
    currentReplicas: target.replicas,
    statusReplicas: target.current,
    tolerance: toleranceOf(hpa, measured.tolerance),
  };
  for (const [index, metric] of (hpa.spec.metrics ?? []).entries())
    yield index < maxMetrics
      ? outcomeOf(metric, known, readings.get(index) ?? 'it was not queried')
      : troubleOf(metric, tooMany);
}

function outcomeOf(metric: MetricSpec, known: Known, reading: Reading): Outcome {
  try {
    return proposalOf(metric, known, reading);
  } catch (error) {
    if (!(error instanceof MetricFailure)) throw error;
    return troubleOf(metric, error);
  }
}

function toleranceOf({ spec }: HorizontalPodAutoscaler, usualTolerance: number): Tolerance {
  const of = (rules: HPAScalingRules | undefined) => Number(rules?.tolerance ?? usualTolerance);
  const [up, down] = [of(spec.behavior?.scaleUp), of(spec.behavior?.scaleDown)];
  return {
    up: Number.isFinite(up) ? up : usualTolerance,
    down: Number.isFinite(down) ? down : usualTolerance,
  };
}

const limitsOf = ({ spec }: HorizontalPodAutoscaler): Limits => ({
  min: spec.minReplicas,
  max: spec.maxReplicas,
  up: { ...usual.up, ...spec.behavior?.scaleUp },
  down: { ...usual.down, ...spec.behavior?.scaleDown },
});
