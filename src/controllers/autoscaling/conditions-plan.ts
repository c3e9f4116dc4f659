/** Conditions of an autoscaler, with upstream's wording. Pure. */

import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { HorizontalPodAutoscalerCondition as Condition } from '../../api/autoscaling/v2/types.gen.ts';
import { transitionTime } from '../../apimachinery/conditions.ts';
import type { Limited } from './behavior-plan.ts';

export type AutoscalerStatus = NonNullable<HorizontalPodAutoscaler['status']>;

export function setLimits(draft: StatusDraft, { stabilized, reason, message }: Limited): void {
  if (stabilized === 'down')
    draft.setCondition(
      'AbleToScale',
      'True',
      'ScaleDownStabilized',
      'recent recommendations were higher than current one, applying the highest recent recommendation',
    );
  else if (stabilized === 'up')
    draft.setCondition(
      'AbleToScale',
      'True',
      'ScaleUpStabilized',
      'recent recommendations were lower than current one, applying the lowest recent recommendation',
    );
  else draft.setCondition('AbleToScale', 'True', 'ReadyForNewScale', 'recommended size matches current size');
  draft.setCondition('ScalingLimited', reason === 'DesiredWithinRange' ? 'False' : 'True', reason, message);
}

/** Draft of the conditions. The transition time of a condition that keeps its status is kept. */
export class StatusDraft {
  readonly #now: string;
  #conditions: Condition[];

  constructor(status: AutoscalerStatus, now: string) {
    this.#now = now;
    this.#conditions = [...(status.conditions ?? [])];
  }

  setCondition(type: string, status: 'True' | 'False', reason: string, message: string): void {
    const old = this.#conditions.find((condition) => condition.type === type);
    const lastTransitionTime = transitionTime(old, status, this.#now);
    const next = { type, status, lastTransitionTime, reason, message };
    this.#conditions = old
      ? this.#conditions.map((condition) => (condition === old ? next : condition))
      : [...this.#conditions, next];
  }

  status(rest: AutoscalerStatus): AutoscalerStatus {
    return { ...rest, conditions: this.#conditions };
  }
}
