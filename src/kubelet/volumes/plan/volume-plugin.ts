/** Upstream's names of volume plugins. Pure. */
import type { PersistentVolume, Volume } from '../../../api/core/v1/types.gen.ts';

/** Plugin names by the source field of a pod's volume or of a PersistentVolume. */
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

/**
 * Returns the plugin's name. `bound` is the PersistentVolume that the volume's claim is bound to; '' for a
 * claim whose volume is not known yet.
 */
export function volumePlugin(volume: Volume, bound: PersistentVolume | undefined): string {
  const { persistentVolumeClaim, ephemeral } = volume;
  const isClaim = persistentVolumeClaim !== undefined || ephemeral !== undefined;
  if (isClaim && !bound) return '';
  const field = Object.keys(bound?.spec ?? volume).find((name) => Object.hasOwn(plugins, name));
  // A volume without any source is an emptyDir.
  return plugins[field ?? 'emptyDir'] ?? '';
}
