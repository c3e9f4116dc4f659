/** Which Trigger has a path of the gateway. Pure. */
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Trigger } from './trigger.ts';

/** Of one namespace: the first that was made; undefined when none has it. */
export function triggerAt(triggers: Iterable<Trigger>, path: string): Trigger | undefined {
  let first: Trigger | undefined;
  for (const trigger of triggers) {
    if (trigger.spec.http?.path !== path || isTerminating(trigger)) continue;
    if (!first || isBefore(trigger, first)) first = trigger;
  }
  return first;
}

const isBefore = ({ metadata: a }: Trigger, { metadata: b }: Trigger) =>
  a.creationTimestamp === b.creationTimestamp ? a.name < b.name : a.creationTimestamp < b.creationTimestamp;
