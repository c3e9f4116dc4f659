/**
 * Claims that are bound to volumes when their pod gets a node (upstream: the scheduler's volumebinding).
 * Pure.
 */

import { volumeSuitsNode } from '../../api/core/v1/node/selection.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import { isForClaim, selectedNode, sizeOfClaim } from '../../api/core/v1/volume/binding.ts';
import { provisionFault } from '../../api/core/v1/volume/local-volumes.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';
import { compareQuantities } from '../../apimachinery/quantity.ts';
import type { NodeInfo } from '../node-info.ts';

export interface DelayedClaim {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass | undefined;
  /** Volumes that fit the claim, the best first (rankVolumes). */
  readonly volumes: readonly PersistentVolume[];
}

export type Assignment =
  /** The volume is bound to the claim, or is to be. */
  | { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume; readonly isReserved: boolean }
  /** A volume is to be provisioned on the node. */
  | { readonly claim: PersistentVolumeClaim; readonly volume?: undefined };

/**
 * Returns the assignment of each claim on the node, or undefined if one of them cannot be satisfied there.
 */
export function assignOn(node: NodeInfo, claims: readonly DelayedClaim[]): readonly Assignment[] | undefined {
  const taken = new Set<string>();
  const found: Assignment[] = [];
  // Smaller claims come first, so that none takes a volume that only a larger claim needs.
  for (const { claim, storageClass, volumes } of claims.toSorted(bySize)) {
    const volume = volumes.find((one) => !taken.has(one.metadata.name) && volumeSuitsNode(one, node.node));
    if (volume) {
      taken.add(volume.metadata.name);
      found.push({ claim, volume, isReserved: isForClaim(volume, claim) });
      continue;
    }
    const elsewhere = volumes.some((one) => isForClaim(one, claim));
    if (elsewhere || !canBeMade(claim, storageClass, node)) return undefined;
    found.push({ claim });
  }
  return found;
}

/**
 * Returns the reason why a claim cannot be satisfied until a volume is created for it manually, or undefined.
 */
export function hopeless(claims: readonly DelayedClaim[]): string | undefined {
  for (const { claim, storageClass, volumes } of claims) {
    const why = volumes.length > 0 ? undefined : provisionFault(claim, storageClass?.provisioner);
    if (why !== undefined) return `persistentvolumeclaim ${JSON.stringify(claim.metadata.name)}: ${why}`;
  }
  return undefined;
}

const bySize = ({ claim: a }: DelayedClaim, { claim: b }: DelayedClaim) =>
  compareQuantities(sizeOfClaim(a), sizeOfClaim(b));

function canBeMade(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  { node }: NodeInfo,
): boolean {
  const chosen = claim.metadata.annotations?.[selectedNode];
  if (chosen !== undefined && chosen !== node.metadata.name) return false;
  if (!storageClass || storageClass.provisioner === 'kubernetes.io/no-provisioner') return false;
  if (provisionFault(claim, storageClass.provisioner) !== undefined) return false;
  const { allowedTopologies = [] } = storageClass;
  const has = (key: string, values: readonly string[]) => values.includes(node.metadata.labels?.[key] ?? '');
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => has(key, values)),
    )
  );
}
