/**
 * The approval of kinds in groups of the Kubernetes community (*.k8s.io and *.kubernetes.io), which an
 * annotation of their definitions states. Pure.
 */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { WantedCondition } from './definition-conditions.ts';
import type { CustomResourceDefinition } from './types.gen.ts';

const annotation = 'api-approved.kubernetes.io';
const path = `metadata.annotations[${annotation}]`;
const about = 'see https://github.com/kubernetes/enhancements/pull/1111';

interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  readonly reason: string;
}

const isCommunityGroup = (group: string): boolean =>
  ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));

function approvalOf({ metadata }: CustomResourceDefinition): Approval {
  const text = metadata.annotations?.[annotation] ?? '';
  const needed = `protected groups must have approval annotation "${annotation}"`;
  if (text === '') return { state: 'missing', reason: `${needed}, ${about}` };
  if (text.startsWith('unapproved'))
    return { state: 'bypassed', reason: `not approved: ${JSON.stringify(text)}` };
  if (URL.parse(text)?.host) return { state: 'approved', reason: `approved in ${text}` };
  const reason = `${needed} with either a URL or a reason starting with "unapproved", ${about}`;
  return { state: 'invalid', reason };
}

/** Returns the cause for a missing or wrong annotation; an unchanged one is never rejected. */
export function approvalCauses(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): StatusCause[] {
  if (!isCommunityGroup(definition.spec.group ?? '')) return [];
  const { state, reason } = approvalOf(definition);
  if (old && approvalOf(old).state === state) return [];
  if (state === 'missing') return [requiredCause(path, reason)];
  if (state !== 'invalid') return [];
  return [invalidCause(path, definition.metadata.annotations?.[annotation], reason)];
}

const reasonOf = {
  invalid: ['False', 'InvalidAnnotation'],
  missing: ['False', 'MissingAnnotation'],
  approved: ['True', 'ApprovedAnnotation'],
  bypassed: ['False', 'UnapprovedAnnotation'],
} as const;

/** Returns the condition of a definition in a group of the community; undefined for other groups. */
export function approvalCondition(definition: CustomResourceDefinition): WantedCondition | undefined {
  if (!isCommunityGroup(definition.spec.group)) return undefined;
  const { state, reason: message } = approvalOf(definition);
  const [status, reason] = reasonOf[state];
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message };
}
