/** How a kind declares the names that its objects claim, so that the store takes them in the same write. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Claims } from '../../storage/store.ts';

export interface ClaimPlanner {
  /**
   * Fills in what the server allocates (mutates `object`) and says which claims to take and to give back.
   * `taken` are claims that were found to be another object's; throws Invalid when the user insists on one.
   */
  plan(object: KubeObject, old: KubeObject | undefined, taken: ReadonlySet<string>): Claims;
  /** Everything the object holds, for when it is removed. */
  held(object: KubeObject): Claims;
}
