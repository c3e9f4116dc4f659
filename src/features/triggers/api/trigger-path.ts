/** The Trigger of a path of the gateway. Pure. */
import { isTerminating } from '../../../apimachinery/meta.ts';
import type { Trigger } from './trigger.ts';

/** Returns the oldest trigger with the path among the triggers of one namespace; undefined for none. */
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
