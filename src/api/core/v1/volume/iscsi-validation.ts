/** Rules of a volume on an iSCSI target (upstream: validateISCSIPersistentVolumeSource). */
import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { ISCSIPersistentVolumeSource } from '../types.gen.ts';

/**
 * Forms of the names of targets and initiators: a date and a domain, an IEEE identifier, a network address
 * authority.
 */
const nameForm =
  /^(?:iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+|eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32})$/;

const isName = (name: string) => nameForm.test(name);

export function validateIscsi(iscsi: ISCSIPersistentVolumeSource, path: string): StatusCause[] {
  const { iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef } = iscsi;
  const causes: StatusCause[] = [];
  if (iqn !== '' && !isName(iqn)) causes.push(invalidCause(`${path}.iqn`, iqn, 'must be valid format'));
  if (lun < 0 || lun > 255)
    causes.push(invalidCause(`${path}.lun`, lun, 'must be between 0 and 255, inclusive'));
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) causes.push(requiredCause(`${path}.secretRef`));
  if (secretRef && !secretRef.name) causes.push(requiredCause(`${path}.secretRef.name`));
  return causes;
}

/**
 * Validates the initiator's name. `volume` is the name of the PersistentVolume: with the portal it becomes
 * the name of an interface.
 */
export function initiatorCauses(
  iscsi: ISCSIPersistentVolumeSource,
  path: string,
  volume: string,
): StatusCause[] {
  const { initiatorName, targetPortal } = iscsi;
  if (initiatorName === undefined) return [];
  const causes: StatusCause[] = [];
  if (`${volume}:${targetPortal}`.length > 64)
    causes.push(
      invalidCause(
        `${path}.targetportal`,
        targetPortal,
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      ),
    );
  if (!isName(initiatorName))
    causes.push(invalidCause(`${path}.initiatorname`, initiatorName, 'must be valid format'));
  return causes;
}
