/** The status of both kinds: conditions with distinct types. */
import { repeats } from '../../../apimachinery/equality.ts';
import { duplicateCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { type KubeObject, keepMeta } from '../../../apimachinery/meta.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

export const flowcontrolGroup = 'flowcontrol.apiserver.k8s.io';

interface WithConditions extends KubeObject {
  status?: { conditions?: { type: string }[] | undefined } | undefined;
}

export function validateConditions({ status }: WithConditions): StatusCause[] {
  const types = (status?.conditions ?? []).map(({ type }) => type);
  const repeated = repeats(types);
  return types.flatMap((type, index) => {
    const path = `status.conditions[${index}].type`;
    return [
      ...(repeated[index] ? [duplicateCause(path, type)] : []),
      ...(type === '' ? [requiredCause(path, 'must not be empty')] : []),
    ];
  });
}

/** Restores the metadata in a status update. */
export const keepMetadata = ({ metadata }: KubeObject, old: KubeObject) =>
  keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences');
