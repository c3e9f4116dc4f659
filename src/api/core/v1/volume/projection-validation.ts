/**
 * Rules of volumes whose files come from the API: from ConfigMaps, Secrets, the pod itself, and tokens of its
 * account (upstream: ValidateVolumes, validateProjectedVolumeSource).
 */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import {
  maxLifetimeSeconds,
  minLifetimeSeconds,
  validateUserAnnotations,
} from '../../../certificates/v1/certificate-terms.ts';
import {
  checkTrustBundleName,
  signerOfBundleName,
  validateSignerName,
} from '../../../certificates/v1/signer-name.ts';
import { validateLabelSelector } from '../../../meta/v1/label-selector.ts';
import { validateResourceField } from '../container/env-validation.ts';
import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  Volume,
  VolumeProjection,
} from '../types.gen.ts';

/** Returns the causes of a volume of one of these types. */
export function validateProjections(volume: Volume, path: string): StatusCause[] {
  const { secret, configMap, downwardAPI, projected } = volume;
  return [
    ...(secret
      ? [
          ...required(secret.secretName, `${path}.secret.secretName`),
          ...modeCauses(secret.defaultMode, `${path}.secret.defaultMode`),
          ...itemCauses(secret.items, `${path}.secret.items`),
        ]
      : []),
    ...(configMap
      ? [
          ...required(configMap.name, `${path}.configMap.name`),
          ...modeCauses(configMap.defaultMode, `${path}.configMap.defaultMode`),
          ...itemCauses(configMap.items, `${path}.configMap.items`),
        ]
      : []),
    ...(downwardAPI
      ? [
          ...modeCauses(downwardAPI.defaultMode, `${path}.downwardAPI.defaultMode`),
          ...fileCauses(downwardAPI.items, `${path}.downwardAPI`),
        ]
      : []),
    ...(projected
      ? [
          ...modeCauses(projected.defaultMode, `${path}.projected.defaultMode`),
          ...sourceCauses(projected.sources ?? [], `${path}.projected.sources`),
        ]
      : []),
  ];
}

type FileReference = NonNullable<VolumeProjection['secret'] | VolumeProjection['configMap']>;

function sourceCauses(sources: readonly VolumeProjection[], path: string): StatusCause[] {
  const taken = new Set<string>();
  return sources.flatMap((source, index) => {
    const at = `${path}[${index}]`;
    const [first, ...more] = Object.keys(source).filter((kind) => source[kind as keyof VolumeProjection]);
    if (first === undefined) return [requiredCause(at, 'must specify a source')];
    const twice = pathsOf(source).filter((file) => file !== '' && (taken.has(file) || !taken.add(file)));
    return [
      ...more.map((kind) =>
        forbiddenCause(`${at}.${kind}`, 'may not specify more than 1 volume type per source'),
      ),
      ...twice.map((file) => invalidCause(`${at}.${first}`, file, 'conflicting duplicate paths')),
      ...contentCauses(source, at),
    ];
  });
}

/** Returns the paths of the files that a source names. */
function pathsOf(source: VolumeProjection): string[] {
  const { secret, configMap, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  const lists = [secret?.items, configMap?.items, downwardAPI?.items];
  const items = [...lists, token ? [token] : [], bundle ? [bundle] : []];
  const inLists = items.flatMap((files = []) => files.map((file) => file.path));
  return [...inLists, ...certificatePaths(source.podCertificate).map(([, path]) => path)];
}

function contentCauses(source: VolumeProjection, at: string): StatusCause[] {
  const { secret, configMap, downwardAPI, serviceAccountToken: token } = source;
  const causes: StatusCause[] = [];
  if (secret) causes.push(...referenceCauses(secret, `${at}.secret`));
  if (configMap) causes.push(...referenceCauses(configMap, `${at}.configMap`));
  if (downwardAPI) causes.push(...fileCauses(downwardAPI.items, `${at}.downwardAPI`));
  if (token) {
    const tokenAt = `${at}.serviceAccountToken`;
    causes.push(
      ...lifeCauses(token.expirationSeconds, `${tokenAt}.expirationSeconds`),
      ...pathCauses(token.path, `${tokenAt}.path`),
    );
  }
  if (source.clusterTrustBundle)
    causes.push(...trustCauses(source.clusterTrustBundle, `${at}.clusterTrustBundle`));
  if (source.podCertificate) causes.push(...certificateCauses(source.podCertificate, `${at}.podCertificate`));
  return causes;
}

/** Validates a source that has either the name of a bundle, or a signer and labels. */
function trustCauses(bundle: ClusterTrustBundleProjection, at: string): StatusCause[] {
  return [...selectionCauses(bundle, at), ...pathCauses(bundle.path, `${at}.path`)];
}

function selectionCauses(bundle: ClusterTrustBundleProjection, at: string): StatusCause[] {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined)
    return [invalidCause(at, bundle, 'only one of name and signerName may be used')];
  if (name !== undefined) {
    const faults = checkTrustBundleName(name, signerOfBundleName(name));
    const fixed = 'labelSelector must be unset if name is specified';
    return [
      ...(name === '' ? [requiredCause(`${at}.name`, 'must be a valid object name')] : []),
      ...faults.map((why) => invalidCause(`${at}.name`, name, `not a valid clustertrustbundlename: ${why}`)),
      ...(labelSelector ? [invalidCause(`${at}.labelSelector`, labelSelector, fixed)] : []),
    ];
  }
  if (signerName === undefined) return [requiredCause(at, 'either name or signerName must be specified')];
  return [
    ...validateSignerName(`${at}.signerName`, signerName),
    ...(labelSelector ? validateLabelSelector(labelSelector, `${at}.labelSelector`) : []),
  ];
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];

/** Returns the files of a pod's certificate that are wanted, by field. */
const certificatePaths = (
  certificate: PodCertificateProjection | undefined,
): (readonly [field: string, path: string])[] =>
  (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).flatMap((field) => {
    const path = certificate?.[field];
    return path ? [[field, path] as const] : [];
  });

function certificateCauses(certificate: PodCertificateProjection, at: string): StatusCause[] {
  const { signerName, keyType, maxExpirationSeconds: seconds, userAnnotations } = certificate;
  const paths = certificatePaths(certificate);
  const none = 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath';
  return [
    ...validateSignerName(`${at}.signerName`, signerName),
    ...validateUserAnnotations(userAnnotations, `${at}.userAnnotations`),
    ...(keyTypes.includes(keyType) ? [] : [notSupportedCause(`${at}.keyType`, keyType, keyTypes)]),
    ...(seconds === undefined
      ? []
      : expirationCauses(seconds, maxLifetimeSeconds(signerName), `${at}.maxExpirationSeconds`)),
    ...paths.flatMap(([field, path]) => pathCauses(path, `${at}.${field}`)),
    ...(paths.length > 0 ? [] : [requiredCause(at, none)]),
  ];
}

function expirationCauses(seconds: number, most: number, path: string): StatusCause[] {
  const bound = (operator: string, limit: number) =>
    invalidCause(path, seconds, `if provided, maxExpirationSeconds must be ${operator} ${limit}`);
  if (seconds < minLifetimeSeconds) return [bound('>=', minLifetimeSeconds)];
  return seconds > most ? [bound('<=', most)] : [];
}

const referenceCauses = ({ name, items }: FileReference, at: string): StatusCause[] => [
  ...required(name, `${at}.name`),
  ...itemCauses(items, `${at}.items`),
];

const required = (value: string | undefined, path: string) => (value ? [] : [requiredCause(path)]);

const itemCauses = (items: readonly KeyToPath[] = [], path: string) =>
  items.flatMap(({ key, path: file, mode }, index) => [
    ...required(key, `${path}[${index}].key`),
    ...pathCauses(file, `${path}[${index}].path`),
    ...modeCauses(mode, `${path}[${index}].mode`),
  ]);

const fileCauses = (items: readonly DownwardAPIVolumeFile[] = [], path: string) =>
  items.flatMap(({ path: file, fieldRef, resourceFieldRef, mode }): StatusCause[] => [
    ...pathCauses(file, `${path}.path`),
    ...(fieldRef && resourceFieldRef
      ? [invalidCause(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(fieldRef ? fieldCauses(fieldRef.fieldPath, `${path}.fieldRef.fieldPath`) : []),
    ...(resourceFieldRef ? resourceCauses(resourceFieldRef, `${path}.resourceFieldRef`) : []),
    ...(fieldRef || resourceFieldRef
      ? []
      : [requiredCause(path, 'one of fieldRef and resourceFieldRef is required')]),
    ...modeCauses(mode, `${path}.mode`),
  ]);

/** Fields of the pod that a file may contain. */
const fields = /^metadata\.(?:name|namespace|uid|labels|annotations|(?:labels|annotations)\['.+'\])$/;

const fieldCauses = (field: string, path: string) =>
  fields.test(field) ? [] : [invalidCause(path, field, 'must be a field of metadata that a file may hold')];

/** Validates a resource field. A file does not belong to a container, so the container must be named. */
const resourceCauses = (source: NonNullable<DownwardAPIVolumeFile['resourceFieldRef']>, path: string) =>
  source.containerName ? validateResourceField(source, path) : [requiredCause(`${path}.containerName`)];

const modeCauses = (mode: number | undefined, path: string) =>
  mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [invalidCause(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];

/** Validates the validity of a token, in seconds. */
function lifeCauses(seconds: number | undefined, path: string): StatusCause[] {
  if (seconds === undefined) return [];
  if (seconds < 600) return [invalidCause(path, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > 2 ** 32
    ? [invalidCause(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

/**
 * Validates the path of a file in the volume: it must not lead outside, or be a name that the volume
 * reserves.
 */
function pathCauses(file: string, path: string): StatusCause[] {
  if (!file) return [requiredCause(path)];
  if (file.startsWith('/')) return [invalidCause(path, file, 'must be a relative path')];
  if (file.split('/').includes('..')) return [invalidCause(path, file, "must not contain '..'")];
  return file.startsWith('..') ? [invalidCause(path, file, "must not start with '..'")] : [];
}
