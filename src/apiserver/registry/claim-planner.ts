/**
 * Declares the unique names that objects of a kind claim, so that the store acquires them in the same write.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Claims } from '../../storage/store.ts';

export interface ClaimPlanner {
  /**
   * Fills in the values that the server allocates (mutates `object`) and returns the claims to acquire and to
   * release. `taken` are claims that belong to other objects; throws Invalid if the user requested one of
   * them.
   */
  plan(object: KubeObject, old: KubeObject | undefined, taken: ReadonlySet<string>): Claims;
  /** Returns everything that the object holds, for its removal. */
  held(object: KubeObject): Claims;
}
