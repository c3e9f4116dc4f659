/** Context from which the parts of Kubernetes' own API server are built, in addition to the engine's. */
import type { Node } from '../api/core/v1/node/node.ts';
import type { EngineContext } from '../apiserver/server-context.ts';
import type { ReadCertificateRequest } from '../formats/certificate-request.ts';
import type { DefaultTolerations } from './admission/default-toleration-seconds.ts';
import type { LimitedResource } from './admission/quota-checks.ts';
import type { ServedDefinitions } from './custom-resources/served-definitions.ts';
import type { NodeConnection } from './node-connection.ts';
import type { PodSecurityConfiguration } from './pod-security/configuration.ts';
import type { Policy } from './rbac/policy.ts';
import type { Issuer } from './service-accounts/issuer.ts';
import type { AccountKeys } from './service-accounts/keys.ts';

/** Returns why a node may not set its `spec.podCIDR` itself, given the other nodes; undefined if it may. */
export type PodRangeProblem = (node: Node, others: readonly Node[]) => string | undefined;

export interface KubeContext extends EngineContext {
  /** The ranges of Services, one or one of each family (`familyRanges`). */
  readonly serviceCIDR: string;
  /** The ranges of all pods, one or one of each family. */
  readonly clusterCIDR: string;
  /** Ranges of allowed external IPs of Services. */
  readonly externalIPRanges: readonly string[];
  /** Domain of the cluster's own names. */
  readonly clusterDomain: string;
  /** First and last node port. */
  readonly nodePorts: readonly [number, number];
  readonly defaultTolerations: DefaultTolerations;
  /** Resources that may only be used within a quota. */
  readonly limitedResources: readonly LimitedResource[];
  /** Policy of pods in namespaces without labels for it. */
  readonly podSecurity: PodSecurityConfiguration;
  readonly nodeConnection: NodeConnection | undefined;
  /** Roles of the users. */
  readonly policy: Policy;
  /** True if there are authorization rules besides the server's own. */
  readonly hasOtherRules: boolean;
  readonly readCertificateRequest: ReadCertificateRequest;
  readonly mayRegister: (node: string) => boolean;
  readonly podRangeProblem: PodRangeProblem;
  /** Issuer of the tokens of service accounts. */
  readonly issuer: Issuer;
  readonly accountKeys: AccountKeys;
  readonly definitions: Pick<ServedDefinitions, 'untilCurrent'>;
}
