/** Warnings for objects that are stored and not acted on yet. */
import { deepEqual } from '../apimachinery/equality.ts';
import type { KubeObject } from '../apimachinery/meta.ts';

/**
 * Returns a function for the warning of an object, new or with changed `asked` values, that has no effect;
 * `so` describes the consequence.
 */
export function notEnforced<T extends KubeObject>(so: string, asked: (object: T) => unknown) {
  return (object: T, old: T | undefined): string[] =>
    old && deepEqual(asked(object), asked(old))
      ? []
      : [`${object.kind} is stored and not enforced yet: ${so}`];
}
