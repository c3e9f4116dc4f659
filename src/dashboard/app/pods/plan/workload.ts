/** The workload that a pod belongs to, from the pod alone. Pure. */
import type { JsonObject } from '../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../../apimachinery/fields.ts';

const kindKeys: Readonly<Record<string, string>> = {
  StatefulSet: 'statefulsets.apps',
  DaemonSet: 'daemonsets.apps',
  Job: 'jobs.batch',
  ReplicaSet: 'replicasets.apps',
};

/** Returns the key of the kind and the name; for a ReplicaSet of a Deployment, those of the Deployment. */
export function workloadOf(pod: JsonObject): { readonly kind: string; readonly name: string } {
  const owner = recordsAt(pod, 'metadata', 'ownerReferences').find((one) => one.controller === true);
  const name = textAt(owner, 'name');
  const hash = metadataOf(pod).labels['pod-template-hash'];
  if (hash !== undefined && name.endsWith(`-${hash}`))
    return { kind: 'deployments.apps', name: name.slice(0, -hash.length - 1) };
  const kind = kindKeys[textAt(owner, 'kind')];
  return kind === undefined ? { kind: 'pods', name: metadataOf(pod).name } : { kind, name };
}
