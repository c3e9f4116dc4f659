/** The state of a function as a page shows it. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { numberAt, textAt } from '../../../../../apimachinery/fields.ts';
import { conditionOf } from '../../../../../why/pod-facts.ts';

export interface FunctionState {
  readonly health: 'good' | 'waiting' | 'bad' | 'neutral';
  readonly word: string;
  /** Why it cannot be called, in the words of its condition; '' if it can be. */
  readonly reason: string;
  readonly replicas: number;
  readonly ready: number;
}

/** Returns the state: a function without instances is idle, and starts one for the next call. */
export function functionState(object: JsonObject): FunctionState {
  const [replicas, ready] = [
    numberAt(object, 'status', 'replicas'),
    numberAt(object, 'status', 'readyReplicas'),
  ];
  const counts = { replicas, ready };
  const condition = conditionOf(object, 'Ready');
  const reason = textAt(condition, 'message') || textAt(condition, 'reason');
  if (condition?.status !== 'True') {
    const isStarting = !condition || condition.reason === 'Starting';
    return isStarting
      ? { ...counts, health: 'waiting', word: 'being built', reason }
      : { ...counts, health: 'bad', word: 'cannot be called', reason };
  }
  return ready > 0
    ? { ...counts, health: 'good', word: 'running', reason: '' }
    : { ...counts, health: 'neutral', word: replicas > 0 ? 'starting' : 'idle', reason: '' };
}

/** Returns text as indented JSON if it is JSON, else the text itself. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
