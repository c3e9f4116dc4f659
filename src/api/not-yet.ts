/** What a creator is told of objects that are stored before anything acts on them. */
import { deepEqual } from '../apimachinery/equality.ts';
import type { KubeObject } from '../apimachinery/meta.ts';

/** Tells who creates such an object, or changes what it asks for, that it has no effect; `so` says what that means. */
export function notEnforced<T extends KubeObject>(so: string, asked: (object: T) => unknown) {
  return (object: T, old: T | undefined): string[] =>
    old && deepEqual(asked(object), asked(old))
      ? []
      : [`${object.kind} is stored and not enforced yet: ${so}`];
}

/** The same of objects that shall have something made; `others` are what the kind warns of besides. */
export function notActedOn<T extends KubeObject>(
  so: string,
  others: (object: T, old: T | undefined) => string[] = () => [],
) {
  return (object: T, old: T | undefined): string[] => [
    ...(old ? [] : [`${object.kind} is stored and not acted on yet: ${so}`]),
    ...others(object, old),
  ];
}
