import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, textAt, valueAt } from '../../apimachinery/fields.ts';
import { tryParseQuantity } from '../../apimachinery/quantity.ts';
import { command } from '../command.ts';
import type { Mend, Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';

export const claimVolumes: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A claim for a volume that was created by hand stays Pending.',
  cause:
    'The volumes of its class are too small, have other access modes, are used, or are kept (Released) for a claim that is gone.',
  advice: 'Create a volume that fits, or release one: remove its spec.claimRef.',
  find(claim, seen) {
    if (textAt(claim, 'status', 'phase') === 'Bound') return undefined;
    const className = textAt(claim, 'spec', 'storageClassName');
    if (className === '' || isProvisioned(className, seen)) return undefined;
    const volumes = seen
      .list('persistentvolumes')
      .filter((volume) => textAt(volume, 'spec', 'storageClassName') === className);
    if (volumes.length === 0) return undefined;
    const reasons = volumes.map((volume) => misfitOf(claim, volume));
    if (reasons.includes(undefined)) return undefined;
    const released = volumes.find((volume) => textAt(volume, 'status', 'phase') === 'Released');
    const [first] = reasons;
    return {
      severity: 'broken',
      says:
        volumes.length === 1
          ? `its only volume does not fit: ${first}`
          : `none of the ${volumes.length} volumes of class ${className} fits it`,
      evidence: reasons.flatMap((one) => (one === undefined ? [] : [one])).slice(0, 5),
      mend: [
        ...(released ? [release(released)] : []),
        { advice: `create a volume of class ${className} that fits the claim, or request less` },
      ],
    };
  },
};

/** Returns whether a provisioner creates the volumes of a class. */
function isProvisioned(className: string, seen: Snapshot): boolean {
  const found = seen.get({ key: 'storageclasses.storage.k8s.io', namespace: '', name: className });
  if (!found) return !seen.isRead('storageclasses.storage.k8s.io');
  return textAt(found, 'provisioner') !== 'kubernetes.io/no-provisioner';
}

/** Returns why a claim cannot have a volume; undefined if it can. */
function misfitOf(claim: JsonObject, volume: JsonObject): string | undefined {
  const { name } = metadataOf(volume);
  const owner = recordAt(volume, 'spec', 'claimRef');
  const holder = `${textAt(owner, 'namespace')}/${textAt(owner, 'name')}`;
  const phase = textAt(volume, 'status', 'phase');
  if (phase === 'Released')
    return `volume ${name} is Released: it is kept for the claim ${holder}, which is gone`;
  if (phase === 'Bound' || phase === 'Failed')
    return `volume ${name} is ${phase}${phase === 'Bound' ? ` to ${holder}` : ''}`;
  const [asked, has] = [
    textAt(claim, 'spec', 'resources', 'requests', 'storage'),
    textAt(volume, 'spec', 'capacity', 'storage'),
  ];
  const [needs, size] = [tryParseQuantity(asked), tryParseQuantity(has)];
  if (needs && size && size.nano < needs.nano)
    return `volume ${name} is too small: it has ${has}, the claim requests ${asked}`;
  const modes = textsAt(volume, 'accessModes');
  const missing = textsAt(claim, 'accessModes').find((mode) => !modes.includes(mode));
  return missing === undefined
    ? undefined
    : `volume ${name} has the access modes ${modes.join(', ')}, the claim requests ${missing}`;
}

function textsAt(object: JsonObject, field: string): readonly string[] {
  const found = valueAt(object, 'spec', field);
  return Array.isArray(found) ? found.filter((one): one is string => typeof one === 'string') : [];
}

function release(volume: JsonObject): Mend {
  const patch = JSON.stringify({ spec: { claimRef: null } });
  return {
    command: command`patch pv ${metadataOf(volume).name} --type=merge -p ${patch}`,
    about: 'gives the volume with its data to the next claim',
  };
}
