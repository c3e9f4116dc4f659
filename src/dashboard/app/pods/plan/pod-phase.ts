/** The state of a pod in a word and as a color. Pure. */
import { summarizePod } from '../../../../api/core/v1/pod/summary.ts';
import type { Pod } from '../../../../api/core/v1/types.gen.ts';
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../../../../apimachinery/fields.ts';
import { isDeleted, isReady } from '../../../../why/pod-facts.ts';
import { remembered } from './remembered.ts';

export type PodHealth = 'good' | 'waiting' | 'bad' | 'ending' | 'done';

/** Returns the STATUS of `ctl get pods`, such as Running or CrashLoopBackOff. */
export const podPhase = (pod: JsonObject): string => summarizePod(podOf(pod)).reason;

export const restartsOf = (pod: JsonObject): number => summarizePod(podOf(pod)).restarts;

/** Returns the object with the fields that every pod has. */
const podOf = (pod: JsonObject): Pod =>
  ({
    ...pod,
    metadata: metadataOf(pod),
    spec: { ...recordAt(pod, 'spec'), containers: recordsAt(pod, 'spec', 'containers') },
  }) as unknown as Pod;

const failing = /BackOff|^Err|Error|Failed|OOMKilled|Invalid|Evicted|ExitCode|Signal/;

/**
 * Returns the state of a pod; the result is kept, because pages count thousands of pods after each change.
 */
export const podHealth: (pod: JsonObject) => PodHealth = remembered(healthOf);

function healthOf(pod: JsonObject): PodHealth {
  if (isDeleted(pod)) return 'ending';
  if (isReady(pod)) return 'good';
  if (textAt(pod, 'status', 'phase') === 'Succeeded') return 'done';
  return failing.test(podPhase(pod)) ? 'bad' : 'waiting';
}
