/** What rules of webhooks and policies see of a request. Pure. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';

/** Operations in the words of admissionregistration.k8s.io. */
export type RuleOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface RequestTarget {
  readonly operation: RuleOperation;
  /** Kind in the version of the request's path. */
  readonly served: ResourceDefinition;
  /** All served versions of the kind, that of the request included. */
  readonly versions: readonly ResourceDefinition[];
  /** '' for the object itself. */
  readonly subresource: string;
  /** '' for an object of the cluster; the name of a Namespace for the Namespace itself, as upstream has it. */
  readonly namespace: string;
  /** '' while the server has not generated the name. */
  readonly name: string;
}

/** Returns whether the request is for a Namespace, which rules count as an object of the cluster. */
export const isForNamespace = ({ served: { group, plural } }: Pick<RequestTarget, 'served'>) =>
  group === '' && plural === 'namespaces';

const configurationKinds: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/**
 * Returns whether neither webhooks nor policies are asked about the kind, so that none can prevent its own
 * removal (upstream: IsExemptAdmissionConfigurationResource).
 */
export const isExempt = ({ group, kind }: Pick<ResourceDefinition, 'group' | 'kind'>) =>
  group === 'admissionregistration.k8s.io' && configurationKinds.has(kind);
