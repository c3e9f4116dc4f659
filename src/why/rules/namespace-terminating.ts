import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

const kinds = [
  'NamespaceFinalizersRemaining',
  'NamespaceContentRemaining',
  'NamespaceDeletionContentFailure',
  'NamespaceDeletionDiscoveryFailure',
  'NamespaceDeletionGroupVersionParsingFailure',
] as const;

export const namespaceTerminating: Rule = {
  kinds: ['namespaces'],
  symptom: 'A namespace stays Terminating.',
  cause: 'Objects in it have finalizers that no controller removes, or an aggregated API does not answer.',
  advice:
    'Start the controller of the finalizer, or remove the finalizer; delete the APIService that does not answer.',
  find(namespace, seen) {
    const { deletionTimestamp, name } = metadataOf(namespace);
    if (deletionTimestamp === undefined || seen.nowMs - Date.parse(deletionTimestamp) < 10_000)
      return undefined;
    const said = kinds.flatMap((type) => {
      const condition = conditionOf(namespace, type);
      return condition?.status === 'True' ? [{ type, message: oneLine(textAt(condition, 'message')) }] : [];
    });
    const isFinalized = said.some(({ type }) => type === 'NamespaceFinalizersRemaining');
    const isUnknown = said.some(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
    return {
      severity: 'degraded',
      says: said[0]?.message ?? 'its objects are being deleted',
      evidence: said.slice(1).map(({ message }) => message),
      mend: [
        ...(isUnknown
          ? [
              {
                command: 'get apiservices',
                about: 'shows which aggregated API does not answer; mend or delete it',
              },
            ]
          : []),
        ...(isFinalized
          ? [
              {
                advice: `start the controller that removes the finalizer, or remove metadata.finalizers of the objects left in namespace ${name}`,
              },
            ]
          : []),
      ],
    };
  },
};
