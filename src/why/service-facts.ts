/** Readers of a Service for rules. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { recordAt, stringMap, textAt } from '../apimachinery/fields.ts';

/** Returns the labels that select a Service's pods; undefined if it selects none by itself. */
export function selectorOf(service: JsonObject): Readonly<Record<string, string>> | undefined {
  if (textAt(service, 'spec', 'type') === 'ExternalName') return undefined;
  const selector = stringMap(recordAt(service, 'spec', 'selector'));
  return Object.keys(selector).length > 0 ? selector : undefined;
}
