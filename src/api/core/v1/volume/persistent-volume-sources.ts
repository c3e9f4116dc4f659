/**
 * The source of a PersistentVolume: one of many types (upstream: ValidatePersistentVolumeSpec and its parts).
 */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
  tooLongCause,
} from '../../../../apimachinery/field-error.ts';
import { checkDns1123Label, checkDns1123Subdomain, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { RulesByType } from '../../../../apimachinery/type-rules.ts';
import type * as api from '../types.gen.ts';
import { backsteps, validateHostPath } from './host-path-validation.ts';
import { initiatorCauses, validateIscsi } from './iscsi-validation.ts';

type Sources = api.PersistentVolumeSource;
type Name = keyof Sources & string;
type Check<T> = (source: T, path: string, volume: string) => StatusCause[];

/**
 * Defaults of the sources. An empty default is for a field that validation checks, with more than "missing".
 */
export const volumeSourceRules: RulesByType = {
  'core.v1.AWSElasticBlockStoreVolumeSource': {},
  'core.v1.AzureDiskVolumeSource': {
    defaults: { diskURI: '', cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  },
  'core.v1.AzureFilePersistentVolumeSource': {},
  'core.v1.CSIPersistentVolumeSource': { defaults: { driver: '' } },
  'core.v1.CephFSPersistentVolumeSource': {},
  'core.v1.CinderPersistentVolumeSource': {},
  'core.v1.FCVolumeSource': {},
  'core.v1.FlexPersistentVolumeSource': {},
  'core.v1.FlockerVolumeSource': {},
  'core.v1.GCEPersistentDiskVolumeSource': { defaults: { pdName: '' } },
  'core.v1.GlusterfsPersistentVolumeSource': {},
  'core.v1.ISCSIPersistentVolumeSource': { defaults: { iscsiInterface: 'default', lun: 0 } },
  'core.v1.LocalVolumeSource': {},
  'core.v1.NFSVolumeSource': { defaults: { path: '' } },
  'core.v1.PhotonPersistentDiskVolumeSource': {},
  'core.v1.PortworxVolumeSource': {},
  'core.v1.QuobyteVolumeSource': { defaults: { registry: '' } },
  'core.v1.RBDPersistentVolumeSource': {
    defaults: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  },
  'core.v1.ScaleIOPersistentVolumeSource': {
    mayLack: 'secretRef',
    requires: 'volumeName',
    defaults: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  },
  'core.v1.SecretReference': {},
  'core.v1.StorageOSPersistentVolumeSource': {},
  'core.v1.VsphereVirtualDiskVolumeSource': {},
};

/** Sources in upstream's order; the first one that is present is the volume's. */
export const persistentSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const satisfies readonly Name[];

const oneOnly = 'may not specify more than 1 volume type';

/** Validates the source. `volume` is the name of the PersistentVolume, '' for a volume without a name. */
export function validateSources(spec: Sources, path: string, volume: string): StatusCause[] {
  const [first, ...more] = persistentSources.filter((name) => spec[name] !== undefined);
  if (first === undefined) return [requiredCause(path, 'must specify a volume type')];
  return [
    ...checkSource(first, spec, path, volume),
    ...more.map((name) => forbiddenCause(`${path}.${name === 'cephfs' ? 'cephFS' : name}`, oneOnly)),
  ];
}

export const sourceOf = (spec: Sources): Sources =>
  Object.fromEntries(
    persistentSources.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])),
  );

function checkSource<K extends (typeof persistentSources)[number]>(
  name: K,
  spec: Sources,
  path: string,
  volume: string,
) {
  const source = spec[name];
  const at = `${path}.${name === 'gcePersistentDisk' ? 'persistentDisk' : name}`;
  return source === undefined ? [] : checks[name](source, at, volume);
}

/** Returns a cause for each of the fields that is missing, or is an empty text or list. */
const need = <T extends object>(source: T, path: string, ...fields: (keyof T & string)[]): StatusCause[] =>
  fields
    .filter((field) => {
      const value = source[field];
      return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    })
    .map((field) => requiredCause(`${path}.${field}`));

const needs =
  <T extends object>(...fields: (keyof T & string)[]): Check<T> =>
  (source, path) =>
    need(source, path, ...fields);

const needsPlace = (secret: api.SecretReference | undefined, path: string) =>
  secret ? need(secret, path, 'name', 'namespace') : [];

const partitionCauses = (partition = 0, path: string) =>
  partition < 0 || partition > 255
    ? [invalidCause(path, partition, 'must be between 1 and 255, inclusive')]
    : [];

const checks: { readonly [K in (typeof persistentSources)[number]]: Check<NonNullable<Sources[K]>> } = {
  hostPath: (hostPath, path) => validateHostPath({ hostPath }, path),
  gcePersistentDisk: (disk, path) => [
    ...need(disk, path, 'pdName'),
    ...partitionCauses(disk.partition, `${path}.partition`),
  ],
  awsElasticBlockStore: (disk, path) => [
    ...need(disk, path, 'volumeID'),
    ...partitionCauses(disk.partition, `${path}.partition`),
  ],
  glusterfs: (source, path) => [...need(source, path, 'endpoints', 'path'), ...endpointsCauses(source, path)],
  flocker: validateFlocker,
  nfs: nfsCauses,
  rbd: needs('monitors', 'image'),
  quobyte: validateQuobyte,
  cephfs: needs('monitors'),
  iscsi: (iscsi, path, volume) => [
    ...need(iscsi, path, 'targetPortal', 'iqn'),
    ...validateIscsi(iscsi, path),
    ...initiatorCauses(iscsi, path, volume),
  ],
  cinder: (source, path) => [
    ...need(source, path, 'volumeID'),
    ...needsPlace(source.secretRef, `${path}.secretRef`),
  ],
  fc: validateFibreChannel,
  flexVolume: (source, path) => [...need(source, path, 'driver'), ...optionCauses(source, `${path}.options`)],
  azureFile: (source, path) => [
    ...need(source, path, 'secretName', 'shareName'),
    ...(source.secretNamespace === '' ? [requiredCause(`${path}.secretNamespace`)] : []),
  ],
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: validateAzureDisk,
  scaleIO: needs('gateway', 'system', 'volumeName'),
  local: (local, path) => [...need(local, path, 'path'), ...backsteps(local.path, `${path}.path`)],
  storageos: validateStorageOS,
  csi: validateCsi,
};

export function nfsCauses(nfs: api.NFSVolumeSource, path: string): StatusCause[] {
  const isAbsolute = nfs.path.startsWith('/');
  return [
    ...need(nfs, path, 'server', 'path'),
    ...(isAbsolute ? [] : [invalidCause(`${path}.path`, nfs.path, 'must be an absolute path')]),
  ];
}

function endpointsCauses(
  { endpointsNamespace: namespace }: api.GlusterfsPersistentVolumeSource,
  path: string,
) {
  const at = `${path}.endpointsNamespace`;
  if (namespace === undefined) return [];
  const why = 'if the endpointnamespace is set, it must be a valid namespace name';
  return namespace === '' ? [invalidCause(at, '', why)] : nameCauses(at, namespace, checkDns1123Label);
}

function validateFlocker({ datasetName = '', datasetUUID = '' }: api.FlockerVolumeSource, path: string) {
  const causes: StatusCause[] = [];
  if (!datasetName && !datasetUUID)
    causes.push(requiredCause(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName && datasetUUID)
    causes.push(
      invalidCause(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'),
    );
  if (datasetName.includes('/'))
    causes.push(invalidCause(`${path}.datasetName`, datasetName, "must not contain '/'"));
  return causes;
}

function validateQuobyte({ registry, tenant = '', volume }: api.QuobyteVolumeSource, path: string) {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas';
  const causes: StatusCause[] = [];
  if (registry === '') causes.push(requiredCause(`${path}.registry`, pairs));
  else if (tenant.length > 64)
    causes.push(
      requiredCause(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'),
    );
  else if (!registry.split(',').every((pair) => /^(?:\[[^\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair)))
    causes.push(invalidCause(`${path}.registry`, registry, pairs));
  return volume === '' ? [...causes, requiredCause(`${path}.volume`)] : causes;
}

function validateFibreChannel({ targetWWNs = [], wwids = [], lun }: api.FCVolumeSource, path: string) {
  const causes: StatusCause[] = [];
  const at = `${path}.targetWWNs`;
  if (targetWWNs.length + wwids.length === 0)
    causes.push(requiredCause(at, 'must specify either targetWWNs or wwids, but not both'));
  if (targetWWNs.length === 0) return causes;
  if (wwids.length > 0)
    causes.push(invalidCause(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
  if (lun === undefined)
    causes.push(requiredCause(`${path}.lun`, 'lun is required if targetWWNs is specified'));
  else if (lun < 0 || lun > 255)
    causes.push(invalidCause(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'));
  return causes;
}

const reserved = /(?:^|\.)(?:kubernetes|k8s)\.io$/;

function optionCauses({ options = {} }: api.FlexPersistentVolumeSource, path: string): StatusCause[] {
  return Object.keys(options)
    .filter((key) => reserved.test((key.split('/', 1)[0] ?? '').toLowerCase()))
    .map((key) => invalidCause(`${path}[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved'));
}

const managedDisk =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

function validateAzureDisk(disk: api.AzureDiskVolumeSource, path: string): StatusCause[] {
  const managed = disk.kind === 'Managed';
  const fits = disk.diskURI.startsWith(managed ? '/subscriptions/' : 'https://');
  const uri = notSupportedCause(`${path}.diskURI`, disk.diskURI, [managed ? managedDisk : blobDisk]);
  return [...need(disk, path, 'diskName', 'diskURI'), ...(fits ? [] : [uri])];
}

function validateStorageOS(source: api.StorageOSPersistentVolumeSource, path: string): StatusCause[] {
  const { volumeName = '', volumeNamespace = '', secretRef } = source;
  return [
    ...(volumeName === ''
      ? [requiredCause(`${path}.volumeName`)]
      : nameCauses(`${path}.volumeName`, volumeName, checkDns1123Label)),
    ...(volumeNamespace === ''
      ? []
      : nameCauses(`${path}.volumeNamespace`, volumeNamespace, checkDns1123Label)),
    ...needsPlace(secretRef, `${path}.secretRef`),
  ];
}

function validateCsi(csi: api.CSIPersistentVolumeSource, path: string): StatusCause[] {
  return [
    ...validateDriverName(csi.driver, `${path}.driver`),
    ...need(csi, path, 'volumeHandle'),
    ...(
      [
        'controllerPublishSecretRef',
        'controllerExpandSecretRef',
        'nodePublishSecretRef',
        'nodeExpandSecretRef',
      ] as const
    ).flatMap((field) => validateSecret(csi[field], `${path}.${field}`)),
  ];
}

function validateSecret(secret: api.SecretReference | undefined, path: string): StatusCause[] {
  if (!secret) return [];
  const { name = '', namespace = '' } = secret;
  return [
    ...needsPlace(secret, path),
    ...(name === '' ? [] : nameCauses(`${path}.name`, name, checkDns1123Subdomain)),
    ...(namespace === '' ? [] : nameCauses(`${path}.namespace`, namespace, checkDns1123Label)),
  ];
}

/**
 * Validates a driver's name (upstream: ValidateCSIDriverName). An empty name gets two causes: missing, and
 * not a subdomain.
 */
export function validateDriverName(name: string, path: string): StatusCause[] {
  return [
    ...(name === '' ? [requiredCause(path)] : []),
    ...(name.length > 63 ? [tooLongCause(path, 63)] : []),
    ...checkDns1123Subdomain(name.toLowerCase()).map((reason) => invalidCause(path, name, reason)),
  ];
}
