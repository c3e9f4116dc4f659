/** Cluster-scoped objects that every cluster has from the start, and that are recreated after a deletion. */
import type { FixedObject } from './fixed-object.ts';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './flowcontrol/v1/mandatory-objects.ts';
import { systemPriorityClasses } from './scheduling/v1/system-classes.ts';
import { localStorageClass } from './storage/v1/local-class.ts';

/** Objects in the order of their creation. */
export const fixedObjects = [
  ...systemPriorityClasses,
  ...mandatoryPriorityLevels,
  ...mandatoryFlowSchemas,
  localStorageClass,
] as unknown as readonly FixedObject[];
