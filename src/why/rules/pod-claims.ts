import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import type { ObjectRef } from '../kinds.ts';
import { isOver } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

export const podClaims: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending, and one of its volumes is a claim.',
  cause: 'The PersistentVolumeClaim does not exist, or has no volume.',
  advice: 'Create the claim, or mend what keeps it from being bound.',
  find(pod, seen) {
    if (isOver(pod) || textAt(pod, 'status', 'phase') === 'Running') return undefined;
    const { namespace, name: podName } = metadataOf(pod);
    const claims = recordsAt(pod, 'spec', 'volumes').flatMap((volume): readonly ObjectRef[] => {
      const named = textAt(volume, 'persistentVolumeClaim', 'claimName');
      const name = named || (volume.ephemeral ? `${podName}-${textAt(volume, 'name')}` : '');
      return name === '' ? [] : [{ key: 'persistentvolumeclaims', namespace, name }];
    });
    const missing = claims.find((claim) => seen.isAbsent(claim));
    if (missing)
      return {
        severity: 'broken',
        says: `its PersistentVolumeClaim ${missing.name} does not exist`,
        mend: [{ advice: `create the claim ${missing.name} in namespace ${namespace}` }],
      };
    const unbound = claims.filter((claim) => {
      const object = seen.get(claim);
      return object && textAt(object, 'status', 'phase') !== 'Bound';
    });
    if (unbound.length === 0 || textAt(pod, 'spec', 'nodeName') !== '') return undefined;
    const names = unbound.map(({ name }) => name).join(', ');
    return { severity: 'broken', says: `it waits for its claims: ${names}`, because: unbound };
  },
};
