/** Rules of a pod's volumes and their mounts (upstream: ValidateVolumes, ValidateVolumeMounts). */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  notFoundCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import { checkDns1123Label, nameCauses } from '../../../../apimachinery/names.ts';
import { validateQuantity } from '../../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { volumeSources } from '../pod/spec-defaults.ts';
import type { Volume, VolumeMount } from '../types.gen.ts';
import { validateClaimedVolume } from './claim-volume-validation.ts';
import { backsteps, validateHostPath } from './host-path-validation.ts';
import { validateProjections } from './projection-validation.ts';

/**
 * Validates volumes. With `inTemplate`, open fields are allowed, since the controller may set them in its
 * pods.
 */
export function validateVolumes(
  volumes: readonly Volume[],
  path: string,
  inTemplate: boolean,
): StatusCause[] {
  const seen = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const at = `${path}[${index}]`;
    const causes = [
      ...validateVolumeName(volume.name, seen, `${at}.name`),
      ...validateSource(volume, at, inTemplate),
    ];
    seen.add(volume.name);
    return causes;
  });
}

function validateVolumeName(name: string, seen: ReadonlySet<string>, path: string): StatusCause[] {
  if (!name) return [requiredCause(path)];
  const causes = nameCauses(path, name, checkDns1123Label);
  if (causes.length > 0) return causes;
  return seen.has(name) ? [duplicateCause(path, name)] : [];
}

function validateSource(volume: Volume, path: string, inTemplate: boolean): StatusCause[] {
  const [first, ...more] = volumeSources(volume);
  if (first === undefined) return [requiredCause(path, 'must specify a volume type')];
  return [
    ...more.map((source) => forbiddenCause(`${path}.${source}`, 'may not specify more than 1 volume type')),
    ...validateHostPath(volume, `${path}.hostPath`),
    ...validateImage(volume, `${path}.image`, inTemplate),
    ...validateProjections(volume, path),
    ...validateClaimedVolume(volume, path),
    ...(volume.emptyDir?.sizeLimit === undefined
      ? []
      : validateQuantity(`${path}.emptyDir.sizeLimit`, volume.emptyDir.sizeLimit)),
  ];
}

function validateImage({ image }: Volume, path: string, inTemplate: boolean): StatusCause[] {
  return image && !image.reference && !inTemplate ? [requiredCause(`${path}.reference`)] : [];
}

/**
 * Validates mounts. Relative mount paths are valid: the agent resolves them from the root, as upstream's
 * does.
 */
export function validateVolumeMounts(
  mounts: readonly VolumeMount[],
  volumes: readonly Volume[],
  isPrivileged: boolean,
  path: string,
): StatusCause[] {
  const mountPaths = new Set<string>();
  const names = new Set(volumes.map(({ name }) => name));
  return mounts.flatMap((mount, index) => {
    const at = `${path}[${index}]`;
    const causes: StatusCause[] = [];
    if (!mount.name) causes.push(requiredCause(`${at}.name`));
    else if (!names.has(mount.name)) causes.push(notFoundCause(`${at}.name`, mount.name));
    if (!mount.mountPath) causes.push(requiredCause(`${at}.mountPath`));
    else if (mountPaths.has(mount.mountPath))
      causes.push(invalidCause(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    mountPaths.add(mount.mountPath);
    return [...causes, ...validateSubPaths(mount, at), ...validatePropagation(mount, isPrivileged, at)];
  });
}

function validateSubPaths({ subPath, subPathExpr }: VolumeMount, at: string): StatusCause[] {
  const causes = subPath ? validateSubPath(subPath, `${at}.subPath`) : [];
  if (!subPathExpr) return causes;
  const path = `${at}.subPathExpr`;
  if (subPath) causes.push(invalidCause(path, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
  return [...causes, ...validateSubPath(subPathExpr, path)];
}

/** Allowed values; Kubernetes' own type does not list them. */
const recursions: readonly string[] = ['Disabled', 'Enabled', 'IfPossible'];

function validatePropagation(mount: VolumeMount, isPrivileged: boolean, path: string): StatusCause[] {
  const { mountPropagation = 'None', recursiveReadOnly = 'Disabled', readOnly } = mount;
  const causes: StatusCause[] = [];
  if (mountPropagation === 'Bidirectional' && !isPrivileged)
    causes.push(
      forbiddenCause(
        `${path}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    );
  const at = `${path}.recursiveReadOnly`;
  if (!recursions.includes(recursiveReadOnly))
    return [...causes, notSupportedCause(at, recursiveReadOnly, recursions)];
  if (recursiveReadOnly === 'Disabled') return causes;
  if (!readOnly) causes.push(forbiddenCause(at, 'may only be specified when readOnly is true'));
  if (mountPropagation !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified';
    causes.push(forbiddenCause(at, why));
  }
  return causes;
}

function validateSubPath(subPath: string, path: string): StatusCause[] {
  if (subPath.startsWith('/')) return [invalidCause(path, subPath, 'must be a relative path')];
  return backsteps(subPath, path);
}
