import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import type { Rule } from '../rule.ts';

export const claimLost: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A PersistentVolumeClaim is Lost.',
  cause: 'The PersistentVolume to which it was bound was deleted.',
  advice: 'Create the claim again; its data are gone.',
  find(claim) {
    if (textAt(claim, 'status', 'phase') !== 'Lost') return undefined;
    const { name, namespace } = metadataOf(claim);
    return {
      severity: 'broken',
      says: `its PersistentVolume ${textAt(claim, 'spec', 'volumeName')} is gone`,
      mend: [
        {
          command: command`delete pvc ${name}${inNamespace({ namespace })}`,
          about: 'and create it again: the data are lost',
        },
      ],
    };
  },
};
