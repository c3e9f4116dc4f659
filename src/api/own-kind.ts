/** Fields that minik8s' own kinds have in common, with their rules. */
import type { DescribedTypes } from '../apimachinery/described-types.ts';
import type { TypeRules } from '../apimachinery/type-rules.ts';

type Fields = DescribedTypes[string];

/** Returns the first fields of a kind of minik8s.io/v1. */
export const headFields = (kind: string): Fields => ({
  'apiVersion:string': 'Group and version of this kind: minik8s.io/v1.',
  'kind:string': `The kind of the object: ${kind}.`,
  'metadata:meta.v1.ObjectMeta': '',
});

/** Returns the rules of these fields. */
export const headRules = (kind: string): TypeRules => ({
  choices: { apiVersion: ['minik8s.io/v1'], kind: [kind] },
});

/** Fields of a condition; its rules are `conditionRules`. */
export const conditionFields: Fields = {
  'type!:string': 'The type of the condition, such as Ready.',
  'status!:string': 'The status of the condition: True, False or Unknown.',
  'reason:string': 'Reason of the status, in one word for programs.',
  'message:string': 'Reason of the status, in a sentence for people.',
  'lastTransitionTime:string': 'When the status last changed.',
  'lastUpdateTime:string': 'When the condition was last written.',
  'lastProbeTime:string': 'When the condition was last probed.',
  'lastHeartbeatTime:string': 'When the condition was last confirmed.',
  'observedGeneration:int64': 'The metadata.generation that the condition was computed from.',
};
