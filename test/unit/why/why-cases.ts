/** A state of a cluster, and the explanation that one object in it must have. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { KindKey, ObjectRef } from '../../../src/why/kinds.ts';

export interface Case {
  /** Rule that recognizes the state of the object itself. */
  readonly rule: string;
  /** The object; the pod web unless given. */
  readonly about?: ObjectRef;
  readonly objects: Readonly<Partial<Record<KindKey, readonly JsonObject[]>>>;
  readonly says: RegExp;
  readonly evidence?: RegExp;
  /** Rule of the first cause, if that is another object. */
  readonly first?: string;
  /** First change that the first cause names. */
  readonly mend?: RegExp;
}
