/** Counting of one kind for quotas (upstream: pkg/quota/v1/evaluator). Pure. */
import type { Amounts } from '../../apimachinery/amounts.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Scope } from './pod-scopes.ts';

export interface Evaluator {
  /** Returns true if a quota's resource of that name counts objects of this kind. */
  counts(name: string): boolean;
  /** Returns true if such a write may increase the usage. */
  handles(operation: 'create' | 'update', subresource: string): boolean;
  /**
   * Returns the fields that the object lacks to be counted under these names, as text; undefined if it lacks
   * none.
   */
  missing(names: readonly string[], object: KubeObject): string | undefined;
  isInScope(requirement: Scope, object: KubeObject): boolean;
  /** Returns the object's usage; `now` is in milliseconds. */
  usage(object: KubeObject, now: number): Amounts;
  /** Returns the milliseconds after which the unchanged object uses less; undefined for never. */
  endsIn(object: KubeObject, now: number): number | undefined;
}
