/** Upstream's names for what makes a volume. Pure. */
import type { PersistentVolume, Volume } from '../../../api/core/v1/types.gen.ts';

/** By the field that says where the data is, of a pod's volume and of a PersistentVolume. */
const plugins: Readonly<Record<string, string>> = {
  configMap: 'kubernetes.io/configmap',
  downwardAPI: 'kubernetes.io/downward-api',
  emptyDir: 'kubernetes.io/empty-dir',
  hostPath: 'kubernetes.io/host-path',
  local: 'kubernetes.io/local-volume',
  nfs: 'kubernetes.io/nfs',
  projected: 'kubernetes.io/projected',
  secret: 'kubernetes.io/secret',
};

/** `bound`: what its claim is bound to. '' for a claim of which that is not known yet. */
export function volumePlugin(volume: Volume, bound: PersistentVolume | undefined): string {
  const { persistentVolumeClaim, ephemeral } = volume;
  const isClaim = persistentVolumeClaim !== undefined || ephemeral !== undefined;
  if (isClaim && !bound) return '';
  const field = Object.keys(bound?.spec ?? volume).find((name) => Object.hasOwn(plugins, name));
  // A volume without any source is one that is empty.
  return plugins[field ?? 'emptyDir'] ?? '';
}
