/**
 * Defaults of Kubernetes 1.32 inside a pod specification, by type (upstream: pkg/apis/core/v1/defaults.go).
 * Fields that minik8s only keeps get their defaults like those that it acts on: clients read both.
 */
import { isRecord, type JsonObject } from '../../../../apimachinery/equality.ts';
import { roundUpQuantity } from '../../../../apimachinery/quantity.ts';
import { fillAbsent, fillZero, type TypeDefaults } from '../../../../apimachinery/type-defaults.ts';

const defaultFileMode = 0o644;

export const podSpecDefaults: TypeDefaults = {
  'core.v1.PodSpec': (spec) => {
    roundResources(spec.overhead);
    // The older name of the field always has the same value.
    fillAbsent(spec, { ...(spec.serviceAccount ? { serviceAccountName: spec.serviceAccount } : {}) });
    if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
    else delete spec.serviceAccount;
  },
  'core.v1.Container': setContainerDefaults,
  'core.v1.EphemeralContainer': setContainerDefaults,
  'core.v1.ContainerPort': (port) => fillAbsent(port, { protocol: 'TCP' }),
  'core.v1.ResourceRequirements': ({ limits, requests }) => {
    roundResources(limits);
    roundResources(requests);
  },
  'core.v1.Probe': (probe) =>
    fillZero(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  'core.v1.HTTPGetAction': (action) => fillAbsent(action, { path: '/', scheme: 'HTTP' }),
  'core.v1.GRPCAction': (action) => fillAbsent(action, { service: '' }),
  'core.v1.ObjectFieldSelector': (selector) => fillAbsent(selector, { apiVersion: 'v1' }),
  'core.v1.ResourceFieldSelector': (selector) => fillAbsent(selector, { divisor: '0' }),
  'core.v1.Volume': (volume) => {
    if (volumeSources(volume).length === 0) volume.emptyDir = {};
  },
  'core.v1.HostPathVolumeSource': (source) => fillAbsent(source, { type: '' }),
  'core.v1.ImageVolumeSource': (source) =>
    fillAbsent(source, { pullPolicy: pullPolicyFor(String(source.reference ?? '')) }),
  'core.v1.ConfigMapVolumeSource': (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  'core.v1.SecretVolumeSource': (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  'core.v1.DownwardAPIVolumeSource': (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  'core.v1.ProjectedVolumeSource': (source) => fillAbsent(source, { defaultMode: defaultFileMode }),
  'core.v1.ServiceAccountTokenProjection': (token) => fillAbsent(token, { expirationSeconds: 3600 }),
  'core.v1.PersistentVolumeClaimTemplate': (template) => fillAbsent(template, { metadata: {} }),
  'core.v1.PersistentVolumeClaimSpec': (spec) => fillAbsent(spec, { volumeMode: 'Filesystem' }),
  'core.v1.VolumeResourceRequirements': ({ limits, requests }) => {
    roundResources(limits);
    roundResources(requests);
  },
  'core.v1.ISCSIVolumeSource': (source) => fillAbsent(source, { iscsiInterface: 'default' }),
  'core.v1.RBDVolumeSource': (source) =>
    fillAbsent(source, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  'core.v1.AzureDiskVolumeSource': (source) =>
    fillAbsent(source, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' }),
  'core.v1.ScaleIOVolumeSource': (source) =>
    fillAbsent(source, { storageMode: 'ThinProvisioned', fsType: 'xfs' }),
};

function setContainerDefaults(container: JsonObject): void {
  fillAbsent(container, {
    imagePullPolicy: pullPolicyFor(String(container.image ?? '')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
}

/** Rounds resources: Kubernetes keeps at most thousandths. */
export function roundResources(amounts: unknown): void {
  if (!isRecord(amounts)) return;
  for (const [name, text] of Object.entries(amounts))
    if (typeof text === 'string') amounts[name] = roundUpQuantity(text);
}

/**
 * Returns the sources of a volume, which has its name and one key for its source, including sources that the
 * agent cannot mount.
 */
export function volumeSources(volume: object): string[] {
  return Object.entries(volume)
    .filter(([key, value]) => key !== 'name' && value !== undefined && value !== null)
    .map(([key]) => key);
}

/**
 * Returns `Always` for the tag latest, explicit or implied, since its image changes. A digest without a tag
 * and an empty name give `IfNotPresent`.
 */
export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  if (image === '') return 'IfNotPresent';
  const [name = '', digest] = image.split('@');
  const lastPart = name.slice(name.lastIndexOf('/') + 1);
  const colon = lastPart.indexOf(':');
  if (colon < 0) return digest === undefined ? 'Always' : 'IfNotPresent';
  return lastPart.slice(colon + 1) === 'latest' ? 'Always' : 'IfNotPresent';
}
