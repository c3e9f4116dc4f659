/** What the parts of Kubernetes' own API server are built from, beside what the engine has. */
import type { Node } from '../api/core/v1/node.ts';
import type { EngineContext } from '../apiserver/server-context.ts';
import type { ReadCertificateRequest } from '../base/certificate-request.ts';
import type { DefaultTolerations } from './admission/default-toleration-seconds.ts';
import type { LimitedResource } from './admission/quota-checks.ts';
import type { Gateway } from './functions/gateway.ts';
import type { InstanceConnections } from './functions/instance-connections.ts';
import type { NodeConnection } from './node-connection.ts';
import type { PodSecurityConfiguration } from './pod-security/configuration.ts';
import type { Policy } from './rbac/policy.ts';
import type { Issuer } from './service-accounts/issuer.ts';
import type { AccountKeys } from './service-accounts/keys.ts';
import type { Intake } from './triggers/intake.ts';
import type { RunClient } from './workflows/invoke.ts';
import type { RunEnds } from './workflows/run-ends.ts';

/** Why a node may not take its `spec.podCIDR` by itself, beside those other nodes; undefined when it may. */
export type PodRangeProblem = (node: Node, others: readonly Node[]) => string | undefined;

export interface KubeContext extends EngineContext {
  readonly serviceCIDR: string;
  readonly clusterCIDR: string;
  /** The ranges that external IPs of Services may be in. */
  readonly externalIPRanges: readonly string[];
  /** The domains that hosts of Dns objects may be below. */
  readonly dnsDomains: readonly string[];
  /** Domain of the cluster's own names. */
  readonly clusterDomain: string;
  /** First and last node port. */
  readonly nodePorts: readonly [number, number];
  readonly defaultTolerations: DefaultTolerations;
  /** Of which nothing may be used without a quota. */
  readonly limitedResources: readonly LimitedResource[];
  /** What pods may where their namespace does not say it. */
  readonly podSecurity: PodSecurityConfiguration;
  readonly nodeConnection: NodeConnection | undefined;
  /** The roles that users have. */
  readonly policy: Policy;
  /** There are rules besides those that the server has by itself. */
  readonly hasOtherRules: boolean;
  readonly readCertificateRequest: ReadCertificateRequest;
  readonly mayRegister: (node: string) => boolean;
  readonly podRangeProblem: PodRangeProblem;
  /** Of the tokens of service accounts. */
  readonly issuer: Issuer;
  readonly accountKeys: AccountKeys;
  /** Calls workflows, and functions; undefined where that is not to be. */
  readonly workflows: { readonly ends: RunEnds; readonly runs: RunClient } | undefined;
  readonly functions:
    | { readonly gateway: Gateway; readonly connections: InstanceConnections; readonly intake: Intake }
    | undefined;
}
