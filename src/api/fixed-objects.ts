/** Cluster-scoped objects that every cluster has from the start, and that are recreated after a deletion. */
import type { Draft, KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './flowcontrol/v1/mandatory-objects.ts';
import { systemPriorityClasses } from './scheduling/v1/system-classes.ts';
import { localStorageClass } from './storage/v1/local-class.ts';

export interface FixedObject<T extends KubeObject = KubeObject> {
  readonly ref: ResourceRef<T>;
  readonly draft: Draft<T> & { readonly metadata: { readonly name: string } };
  /**
   * Returns the corrected object; undefined if it is correct. Absent if validation prevents relevant changes.
   */
  restored?(existing: T): T | undefined;
}

/** Objects in the order of their creation. */
export const fixedObjects = [
  ...systemPriorityClasses,
  ...mandatoryPriorityLevels,
  ...mandatoryFlowSchemas,
  localStorageClass,
] as unknown as readonly FixedObject[];
