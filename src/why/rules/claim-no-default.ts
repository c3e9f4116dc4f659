import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { lastEvent } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

export const claimNoDefault: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A PersistentVolumeClaim without a class is Pending.',
  cause: 'It names no StorageClass, no class is the default one, and no volume fits.',
  advice: 'Create a PersistentVolume that fits, or the claim with a storageClassName.',
  find(claim, seen) {
    if (textAt(claim, 'status', 'phase') === 'Bound' || textAt(claim, 'spec', 'storageClassName') !== '')
      return undefined;
    const classes = seen.list('storageclasses.storage.k8s.io');
    if (classes.some((one) => metadataOf(one).annotations[defaultClass] === 'true')) return undefined;
    const said = lastEvent(seen.eventsOf(claim), 'FailedBinding');
    return {
      severity: 'broken',
      says: 'it names no StorageClass, the cluster has no default class, and no volume fits',
      evidence: said === undefined ? [] : [said],
      mend: [{ advice: 'create a PersistentVolume that fits, or the claim with a storageClassName' }],
    };
  },
};
