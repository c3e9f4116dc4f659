/** The form of cluster-scoped objects that every cluster has from the start; fixed-objects.ts lists them. */
import type { Draft, KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';

export interface FixedObject<T extends KubeObject = KubeObject> {
  readonly ref: ResourceRef<T>;
  readonly draft: Draft<T> & { readonly metadata: { readonly name: string } };
  /**
   * Returns the corrected object; undefined if it is correct. Absent if validation prevents relevant changes.
   */
  restored?(existing: T): T | undefined;
}
