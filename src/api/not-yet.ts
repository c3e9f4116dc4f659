/** Warnings for objects that are stored and not acted on yet. */
import type { KubeObject } from '../apimachinery/meta.ts';

/** Returns a function for the warning of a new object that has no effect, and the kind's `others`. */
export function notActedOn<T extends KubeObject>(
  so: string,
  others: (object: T, old: T | undefined) => string[] = () => [],
) {
  return (object: T, old: T | undefined): string[] => [
    ...(old ? [] : [`${object.kind} is stored and not acted on yet: ${so}`]),
    ...others(object, old),
  ];
}
