/**
 * Recognizes objects that were caused by triggers. They are not reported to the same triggers again, because
 * each event would cause another. Pure.
 */
import { jobResource } from '../../../api/batch/v1/job.ts';
import { podResource } from '../../../api/core/v1/pod/pod.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { functionResource } from '../../functions/api/function.ts';
import { workflowRunResource } from '../../workflows/api/workflow-run.ts';
import type { Trigger } from '../api/trigger.ts';
import { chainOfObject, type TriggerChain } from '../api/trigger-chain.ts';

type Source = NonNullable<Trigger['spec']['object']>;

const isOf = ({ apiVersion, kind }: Source, ref: ResourceRef) =>
  kind === ref.kind && apiVersion === apiVersionOf(ref);

/**
 * Returns the triggers that led to the object. The annotation counts only on kinds on which the cluster sets
 * it.
 */
export const chainOfChange = (source: Source, { metadata }: KubeObject): TriggerChain =>
  isOf(source, workflowRunResource) || isOf(source, jobResource) ? chainOfObject(metadata) : [];

/**
 * Returns true if this trigger caused the object: a run or a Job that it led to, or an instance of the
 * function that it calls.
 */
export function isOwn({ metadata, spec: { target } }: Trigger, source: Source, object: KubeObject): boolean {
  if (chainOfChange(source, object).includes(`${metadata.namespace}/${metadata.name}`)) return true;
  const { namespace, ownerReferences = [] } = object.metadata;
  if (target.kind !== 'Function' || !isOf(source, podResource) || namespace !== metadata.namespace)
    return false;
  return ownerReferences.some(
    ({ apiVersion, kind, name, controller }) =>
      controller === true &&
      apiVersion === apiVersionOf(functionResource) &&
      kind === functionResource.kind &&
      name === target.name,
  );
}
