/** Objects of the whole cluster that every cluster has from the beginning, and that are made again when they are gone. */
import type { Draft, KubeObject } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './flowcontrol/v1/mandatory-objects.ts';
import { systemPriorityClasses } from './scheduling/v1/system-classes.ts';
import { localStorageClass } from './storage/v1/local-class.ts';

export interface FixedObject<T extends KubeObject = KubeObject> {
  readonly ref: ResourceRef<T>;
  readonly draft: Draft<T> & { readonly metadata: { readonly name: string } };
  /** The object as it must be, where that is not how it is. Absent: validation lets nobody change what matters. */
  restored?(existing: T): T | undefined;
}

/** In the order in which they are made. */
export const fixedObjects = [
  ...systemPriorityClasses,
  ...mandatoryPriorityLevels,
  ...mandatoryFlowSchemas,
  localStorageClass,
] as unknown as readonly FixedObject[];
