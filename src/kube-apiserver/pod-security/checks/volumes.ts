import type { Volume } from '../../../api/core/v1/types.gen.ts';
import { type Check, type PolicyCheck, plural, quoted, sorted } from '../check.ts';

const named = (volumes: readonly Volume[]) =>
  `${plural(volumes.length, 'volume')} ${quoted(volumes.map(({ name }) => name))}`;

const checkHostPaths: Check = ({ spec: { volumes = [] } }) => {
  const bad = volumes.filter(({ hostPath }) => hostPath);
  return bad.length === 0 ? undefined : { reason: 'hostPath volumes', detail: named(bad) };
};

const allowed = [
  ...(['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'] as const),
  ...(['persistentVolumeClaim', 'projected', 'secret'] as const),
];

/** Forbidden types. A volume of a type that is not listed is `unknown`, and forbidden too. */
const forbidden = [
  ...(['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi'] as const),
  ...(['glusterfs', 'rbd', 'flexVolume', 'cinder', 'cephfs', 'flocker', 'fc', 'azureFile'] as const),
  ...(['vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk'] as const),
  ...(['portworxVolume', 'scaleIO', 'storageos'] as const),
];

const checkTypes: Check = ({ spec: { volumes = [] } }) => {
  const bad = volumes.filter((volume) => !allowed.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => forbidden.find((type) => volume[type]) ?? 'unknown'));
  const [use, what] = [plural(bad.length, 'uses', 'use'), plural(types.length, 'restricted volume type')];
  return { reason: 'restricted volume types', detail: `${named(bad)} ${use} ${what} ${quoted(types)}` };
};

export const hostPathVolumes: PolicyCheck = {
  id: 'hostPathVolumes',
  level: 'baseline',
  versions: [{ since: 0, check: checkHostPaths }],
};

export const restrictedVolumes: PolicyCheck = {
  id: 'restrictedVolumes',
  level: 'restricted',
  versions: [{ since: 0, check: checkTypes, replaces: [hostPathVolumes.id] }],
};
