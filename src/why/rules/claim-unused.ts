import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import type { Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';

export const claimUnused: Rule = {
  kinds: ['persistentvolumeclaims'],
  symptom: 'A PersistentVolumeClaim is Pending and waits for its first consumer.',
  cause: 'Its class creates the volume on the node of the first pod, and no pod uses the claim yet.',
  advice: 'Create the pod that uses it.',
  find(claim, seen) {
    if (textAt(claim, 'status', 'phase') === 'Bound' || isUsed(claim, seen)) return undefined;
    const name = textAt(claim, 'spec', 'storageClassName');
    const storageClass = seen.get({ key: 'storageclasses.storage.k8s.io', namespace: '', name });
    if (textAt(storageClass, 'volumeBindingMode') !== 'WaitForFirstConsumer') return undefined;
    return {
      severity: 'waiting',
      says: 'its volume is created when the first pod uses it',
      evidence: [`the StorageClass ${name} has volumeBindingMode WaitForFirstConsumer`],
    };
  },
};

function isUsed(claim: JsonObject, seen: Snapshot): boolean {
  const { name, namespace } = metadataOf(claim);
  const uses = (volume: JsonObject) => textAt(volume, 'persistentVolumeClaim', 'claimName') === name;
  return seen.list('pods', namespace).some((pod) => recordsAt(pod, 'spec', 'volumes').some(uses));
}
