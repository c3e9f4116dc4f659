/**
 * Validates a pod's claim, ephemeral and NFS volumes, and the volumeDevices of its containers (upstream:
 * validateEphemeralVolumeSource, ValidateVolumeDevices and others).
 */
import { invalidCause, notFoundCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Container, Volume } from '../types.gen.ts';
import { validateClaimSpec } from './persistent-volume-claim-validation.ts';
import { nfsCauses } from './persistent-volume-sources.ts';

export function validateClaimedVolume(volume: Volume, path: string): StatusCause[] {
  const { ephemeral, nfs, persistentVolumeClaim } = volume;
  const template = ephemeral?.volumeClaimTemplate;
  const at = `${path}.ephemeral.volumeClaimTemplate`;
  return [
    ...(persistentVolumeClaim?.claimName === ''
      ? [requiredCause(`${path}.persistentVolumeClaim.claimName`)]
      : []),
    ...(nfs ? nfsCauses(nfs, `${path}.nfs`) : []),
    ...(ephemeral && !template ? [requiredCause(at)] : []),
    ...(template ? validateClaimSpec(template.spec, `${at}.spec`) : []),
  ];
}

export function validateVolumeDevices(
  { volumeDevices = [], volumeMounts = [] }: Pick<Container, 'volumeDevices' | 'volumeMounts'>,
  volumes: readonly Volume[],
  path: string,
): StatusCause[] {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  return volumeDevices.flatMap(({ name, devicePath }, index) => {
    const [atName, atPath] = [`${path}[${index}].name`, `${path}[${index}].devicePath`];
    const volume = volumes.find((one) => one.name === name);
    const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
    const wrong: readonly (readonly [boolean, StatusCause])[] = [
      [name === '', requiredCause(atName)],
      [names.has(name), invalidCause(atName, name, 'must be unique')],
      [
        volume !== undefined && !isClaim,
        invalidCause(
          atName,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      ],
      [volume === undefined, notFoundCause(atName, name)],
      [devicePath === '', requiredCause(atPath)],
      [paths.has(devicePath), invalidCause(atPath, devicePath, 'must be unique')],
      [
        devicePath.split('/').includes('..'),
        invalidCause(atPath, devicePath, "can not contain backsteps ('..')"),
      ],
      [
        volumeMounts.some((mount) => mount.name === name),
        invalidCause(atName, name, 'must not already exist in volumeMounts'),
      ],
      [
        volumeMounts.some((mount) => mount.mountPath === devicePath),
        invalidCause(atPath, devicePath, 'must not already exist as a path in volumeMounts'),
      ],
    ];
    if (name !== '') names.add(name);
    paths.add(devicePath);
    return wrong.flatMap(([is, cause]) => (is ? [cause] : []));
  });
}
