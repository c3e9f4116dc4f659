import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import type { Rule } from '../rule.ts';

export const claimClass: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A PersistentVolumeClaim is Pending, and its class is unknown.',
  cause: 'Its StorageClass does not exist, and no volume has this class.',
  advice: 'Create the claim with a class that exists (ctl get storageclasses).',
  find(claim, seen) {
    const key = 'storageclasses.storage.k8s.io';
    const className = textAt(claim, 'spec', 'storageClassName');
    if (textAt(claim, 'status', 'phase') === 'Bound' || className === '') return undefined;
    if (!seen.isAbsent({ key, namespace: '', name: className })) return undefined;
    const hasVolume = seen
      .list('persistentvolumes')
      .some((volume) => textAt(volume, 'spec', 'storageClassName') === className);
    if (hasVolume) return undefined;
    const classes = seen.list(key).map((one) => metadataOf(one).name);
    return {
      severity: 'broken',
      says: `its StorageClass ${className} does not exist, and no volume has it`,
      evidence: [`classes: ${classes.join(', ') || 'none'}`],
      mend: [
        {
          advice: `delete the claim and create it with storageClassName ${classes[0] ?? 'of a class that exists'}`,
        },
      ],
    };
  },
};
