import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';

export const podVolumeNode: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending: node(s) had volume node affinity conflict.',
  cause: 'One of its volumes can be used only on some nodes, and these do not accept the pod.',
  advice: 'Let the pod run where its volume is, or move the data to another volume.',
  find(pod, seen) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, /volume node affinity conflict/)) return undefined;
    const placed = volumesOf(pod, seen).flatMap((volume) => {
      const nodes = nodesOf(volume);
      return nodes.length > 0 ? [`the volume ${metadataOf(volume).name} is on ${nodes.join(', ')}`] : [];
    });
    return {
      severity: 'broken',
      says: `no node that accepts it has its volume${placed.length > 0 ? `: ${placed.join('; ')}` : ''}`,
      evidence: unscheduled.evidence,
      mend: [
        {
          advice: 'let the pod run on the node of its volume (nodeSelector, tolerations), or free that node',
        },
      ],
    };
  },
};

/** Returns the volumes that are bound to the claims of a pod. */
function volumesOf(pod: JsonObject, seen: Snapshot): readonly JsonObject[] {
  const { namespace } = metadataOf(pod);
  return recordsAt(pod, 'spec', 'volumes').flatMap((volume) => {
    const name = textAt(volume, 'persistentVolumeClaim', 'claimName');
    const claim = seen.get({ key: 'persistentvolumeclaims', namespace, name });
    const bound = textAt(claim, 'spec', 'volumeName');
    const found = seen.get({ key: 'persistentvolumes', namespace: '', name: bound });
    return found ? [found] : [];
  });
}

/** Returns the values that the node affinity of a volume allows, usually names of nodes. */
const nodesOf = (volume: JsonObject): readonly string[] =>
  recordsAt(volume, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms').flatMap((term) =>
    recordsAt(term, 'matchExpressions').flatMap(({ values }) =>
      Array.isArray(values) ? values.filter((one): one is string => typeof one === 'string') : [],
    ),
  );
