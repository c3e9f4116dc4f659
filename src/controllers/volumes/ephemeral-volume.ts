/**
 * Creates the claims of ephemeral volumes, which are deleted with their pods (upstream:
 * pkg/controller/volume/ephemeral). Keys are pods.
 */

import { claimNameOf, isOwnClaim } from '../../api/core/v1/pod/claims.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaimTemplate, Volume } from '../../api/core/v1/types.gen.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, objectKey } from '../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../apimachinery/status-error.ts';
import { controllerReference } from '../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { claimKeysOf, podsByClaim } from './pods-by-claim.ts';

export const ephemeralVolumeRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'pods'],
    ['update', 'core', 'pods/finalizers'],
    ['get list watch create', 'core', 'persistentvolumeclaims'],
    writeEvents,
  ],
};

export function ephemeralVolumeController({
  client,
  events,
  informers,
}: ControllerContext): ControllerDefinition {
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(podsByClaim, claimKeysOf);
  const claims = informers.informerFor(persistentVolumeClaimResource).lister;

  const isEphemeral = (pod: Pod) => pod.spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false;

  async function makeClaim(pod: Pod, volume: Volume): Promise<void> {
    const { namespace = '' } = pod.metadata;
    const name = claimNameOf(pod, volume) ?? '';
    const template = volume.ephemeral?.volumeClaimTemplate;
    const found = claims.get(`${namespace}/${name}`);
    if (found && !isOwnClaim(pod, found))
      throw new Error(
        `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
      );
    if (!found && template) await createClaim(pod, name, template);
  }

  async function createClaim(pod: Pod, name: string, template: PersistentVolumeClaimTemplate): Promise<void> {
    try {
      const draft = claimDraft(pod, name, template);
      await unlessNamespaceEnds(client.resource(persistentVolumeClaimResource).create(draft));
    } catch (error) {
      // Most likely this controller has just created the claim; the cache will show its owner.
      if (isAlreadyExists(error)) return;
      const why = error instanceof Error ? error.message : String(error);
      const message = `ephemeral volume controller: create PVC ${name}: ${why}`;
      events.event(pod, 'Warning', 'FailedBinding', message);
      throw error;
    }
  }

  return {
    name: 'ephemeral-volume',
    watches: [
      watched(podResource, (pod) => (isEphemeral(pod) ? [objectKey(pod)] : [])),
      watched(persistentVolumeClaimResource, (claim) =>
        pods.byIndex(podsByClaim, objectKey(claim)).filter(isEphemeral).map(objectKey),
      ),
    ],
    async reconcile(key) {
      const pod = pods.get(key);
      if (!pod || isTerminating(pod)) return undefined;
      for (const volume of pod.spec.volumes ?? []) if (volume.ephemeral) await makeClaim(pod, volume);
      return undefined;
    },
  };
}

function claimDraft(pod: Pod, name: string, { metadata = {}, spec }: PersistentVolumeClaimTemplate) {
  const { labels, annotations } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: pod.metadata.namespace ?? '',
      ownerReferences: [controllerReference(podResource, pod)],
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec,
  };
}
