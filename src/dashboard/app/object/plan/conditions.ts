/** The conditions of an object's status, and whether they are as they should be. Pure. */

import { recordsAt, textAt } from '../../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../../apimachinery/meta.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Time of the last change, in RFC 3339; empty if the condition has none. */
  readonly since: string;
  readonly health: 'good' | 'waiting' | 'bad' | undefined;
}

/** Conditions that are good while they are false. */
const faults =
  /pressure$|failure|^failed|unavailable$|^stalled|^degraded|^disrupt|terminating|dangling|conflict|nonstructural/i;
/** Conditions that are neither good nor bad by themselves. */
const neutral = /^(suspended|progressing|scalinglimited|resizing|resizeinprogress|resizepending)/i;

export function conditionsOf(object: KubeObject): Condition[] {
  return recordsAt(object, 'status', 'conditions').map((condition) => {
    const type = textAt(condition, 'type');
    const status = textAt(condition, 'status');
    return {
      type,
      status,
      reason: textAt(condition, 'reason'),
      message: textAt(condition, 'message'),
      since: textAt(condition, 'lastTransitionTime') || textAt(condition, 'lastUpdateTime'),
      health: healthOf(type, status),
    };
  });
}

function healthOf(type: string, status: string): Condition['health'] {
  if (status === 'Unknown') return 'waiting';
  if (neutral.test(type)) return undefined;
  return (status === 'True') !== faults.test(type) ? 'good' : 'bad';
}
