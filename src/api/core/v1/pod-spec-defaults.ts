/**
 * What Kubernetes 1.32 fills in anywhere in a pod specification, by the type it stands in (upstream:
 * pkg/apis/core/v1/defaults.go). It holds for fields that minik8s acts on and for those it only keeps: clients read both.
 */
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import { roundUpQuantity } from '../../../apimachinery/quantity.ts';
import { fillAbsent, fillZero, type TypeDefaults } from '../../../apimachinery/type-defaults.ts';

const defaultFileMode = 0o644;

export const podSpecDefaults: TypeDefaults = {
  V1PodSpec: (spec) => {
    roundResources(spec.overhead);
    // The older name of the field always says the same.
    fillAbsent(spec, { ...(spec.serviceAccount ? { serviceAccountName: spec.serviceAccount } : {}) });
    if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
    else delete spec.serviceAccount;
  },
  V1Container: setContainerDefaults,
  V1EphemeralContainer: setContainerDefaults,
  V1ContainerPort: (port) => fillAbsent(port, { protocol: 'TCP' }),
  V1ResourceRequirements: ({ limits, requests }) => {
    roundResources(limits);
    roundResources(requests);
  },
  V1Probe: (probe) =>
    fillZero(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  V1HTTPGetAction: (action) => fillAbsent(action, { path: '/', scheme: 'HTTP' }),
  V1GRPCAction: (action) => fillAbsent(action, { service: '' }),
  V1ObjectFieldSelector: (selector) => fillAbsent(selector, { apiVersion: 'v1' }),
  V1ResourceFieldSelector: (selector) => fillAbsent(selector, { divisor: '0' }),
  V1Volume: (volume) => {
    if (volumeSources(volume).length === 0) volume.emptyDir = {};
  },
  V1HostPathVolumeSource: (source) => fillAbsent(source, { type: '' }),
  V1ConfigMapVolumeSource: (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  V1SecretVolumeSource: (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  V1DownwardAPIVolumeSource: (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  V1ProjectedVolumeSource: (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  V1ServiceAccountTokenProjection: (token) => fillAbsent(token, { expirationSeconds: 3600 }),
  V1PersistentVolumeClaimTemplate: (template) => fillAbsent(template, { metadata: {} }),
  V1PersistentVolumeClaimSpec: (spec) => fillAbsent(spec, { volumeMode: 'Filesystem' }),
  V1VolumeResourceRequirements: ({ limits, requests }) => {
    roundResources(limits);
    roundResources(requests);
  },
  V1ISCSIVolumeSource: (source) => fillAbsent(source, { iscsiInterface: 'default' }),
  V1RBDVolumeSource: (source) =>
    fillAbsent(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  V1AzureDiskVolumeSource: (source) =>
    fillAbsent(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }),
  V1ScaleIOVolumeSource: (source) => fillAbsent(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }),
};

function setContainerDefaults(container: JsonObject): void {
  fillAbsent(container, {
    imagePullPolicy: pullPolicyFor(String(container.image ?? '')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
}

/** Kubernetes keeps no resource more exactly than to a thousandth. */
function roundResources(amounts: unknown): void {
  if (!isRecord(amounts)) return;
  for (const [name, text] of Object.entries(amounts))
    if (typeof text === 'string') amounts[name] = roundUpQuantity(text);
}

/** A volume has its name and one key for its source, whether or not the source is one that the agent mounts. */
export function volumeSources(volume: object): string[] {
  return Object.entries(volume)
    .filter(([key, value]) => key !== 'name' && value !== undefined && value !== null)
    .map(([key]) => key);
}

/** `Always` for the tag latest, written or implied: what it names changes. A digest alone never does. */
export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@');
  const lastPart = name.slice(name.lastIndexOf('/') + 1);
  const colon = lastPart.indexOf(':');
  if (colon < 0) return digest === undefined ? 'Always' : 'IfNotPresent';
  return lastPart.slice(colon + 1) === 'latest' ? 'Always' : 'IfNotPresent';
}
