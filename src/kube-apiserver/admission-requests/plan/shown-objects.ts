import type { JsonObject } from '../../../apimachinery/equality.ts';

/** Objects of a request, in the version of the rule that matches. */
export interface ShownObjects {
  readonly object: JsonObject | undefined;
  readonly old: JsonObject | undefined;
}
