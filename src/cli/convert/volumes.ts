/** Volumes and claims whose size is a text. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { Fields } from './fields.ts';

export function persistentVolume(spec: Fields): JsonObject {
  const capacity = spec.take('capacity');
  const policy = spec.text('persistentVolumeReclaimPolicy', 'reclaimPolicy');
  const remote = spec.has('remote') ? spec.part('remote') : undefined;
  const server = remote?.text('server', 'serverIP');
  if (remote && server === undefined) throw new Error('spec.remote: expected the address of a server');
  return {
    capacity: isRecord(capacity) ? capacity : { storage: String(capacity) },
    accessModes: spec.take('accessModes'),
    ...(policy !== undefined && { persistentVolumeReclaimPolicy: policy }),
    ...(remote && { nfs: { server, path: remote.text('path') ?? '/' } }),
    ...spec.others(),
  };
}

/**
 * Converts a claim. With `hasVolumes`, the same input has volumes that are provisioned by hand; the claim is
 * bound to one of them, and none is provisioned.
 */
export function persistentVolumeClaim(spec: Fields, hasVolumes: boolean): JsonObject {
  const resources = spec.take('resources');
  const own = spec.take('storageClassName');
  if (own === undefined)
    spec.note(
      'storageClassName',
      hasVolumes
        ? "added: '', which binds the claim to a volume that exists"
        : 'none, so the default class provisions a volume',
      'usual',
    );
  const storageClassName = own ?? (hasVolumes ? '' : undefined);
  return {
    ...(storageClassName !== undefined && { storageClassName }),
    accessModes: spec.take('accessModes'),
    resources: isRecord(resources) ? resources : { requests: { storage: String(resources) } },
    ...spec.others(),
  };
}
