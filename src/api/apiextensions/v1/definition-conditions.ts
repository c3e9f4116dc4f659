/** Conditions of a CustomResourceDefinition. Pure. */
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from './types.gen.ts';

/** Finalizer of a definition that is being deleted, until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export type DefinitionConditionType =
  | 'NamesAccepted'
  | 'Established'
  | 'NonStructuralSchema'
  | 'KubernetesAPIApprovalPolicyConformant'
  | 'Terminating';

/** A condition without the time of its last change. */
export interface WantedCondition {
  readonly type: DefinitionConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** States of the removal of a definition's objects. */
export const terminating = {
  pending: {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  },
  running: {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  },
  done: {
    type: 'Terminating',
    status: 'False',
    reason: 'InstanceDeletionCompleted',
    message: 'removed all instances',
  },
  neverEstablished: {
    type: 'Terminating',
    status: 'False',
    reason: 'NeverEstablished',
    message: 'resource was never established',
  },
} as const satisfies Readonly<Record<string, WantedCondition>>;

type Conditions = readonly CustomResourceDefinitionCondition[] | undefined;

export const definitionCondition = (
  { status }: Pick<CustomResourceDefinition, 'status'>,
  type: DefinitionConditionType,
) => status?.conditions?.find((condition) => condition.type === type);

export const isDefinitionTrue = (
  definition: Pick<CustomResourceDefinition, 'status'>,
  type: DefinitionConditionType,
): boolean => definitionCondition(definition, type)?.status === 'True';

/** Returns the conditions with `wanted`. The time changes with the status alone; `now` is in RFC 3339. */
export function withDefinitionCondition(
  conditions: Conditions,
  wanted: WantedCondition,
  now: string,
): CustomResourceDefinitionCondition[] {
  const all = [...(conditions ?? [])];
  const at = all.findIndex(({ type }) => type === wanted.type);
  const before = all[at];
  const time = before?.status === wanted.status ? (before.lastTransitionTime ?? now) : now;
  const next = { ...wanted, lastTransitionTime: time };
  if (at < 0) return [...all, next];
  all[at] = next;
  return all;
}
