/** Objects that protect or limit something, and are stored before anything acts on them. */
import { deepEqual } from '../apimachinery/equality.ts';
import type { KubeObject } from '../apimachinery/meta.ts';

/** Tells who creates such an object, or changes what it asks for, that it has no effect; `so` says what that means. */
export function notEnforced<T extends KubeObject>(so: string, asked: (object: T) => unknown) {
  return (object: T, old: T | undefined): string[] =>
    old && deepEqual(asked(object), asked(old))
      ? []
      : [`${object.kind} is stored and not enforced yet: ${so}`];
}
