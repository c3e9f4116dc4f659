/** What Kubernetes' own API server is given. */

import type { Authorizer } from '../apiserver/authorization/authorizer.ts';
import type { ApiServerOptions, Document } from '../apiserver/options.ts';
import type { ReadCertificateRequest } from '../base/certificate-request.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { DefaultTolerations } from './admission/default-toleration-seconds.ts';
import type { LimitedResource } from './admission/quota-checks.ts';
import type { PodRangeProblem } from './context.ts';
import type { WriteDemand } from './functions/gateway.ts';
import type { ReachesPod } from './functions/reached-pods.ts';
import type { NodeConnection } from './node-connection.ts';
import type { PodSecurityConfiguration } from './pod-security/configuration.ts';
import type { IssuerOptions } from './service-accounts/issuer.ts';
import type { RunClient } from './workflows/invoke.ts';

export interface FunctionCallOptions {
  /** What this master calls itself. */
  readonly master: string;
  readonly writeDemand: WriteDemand;
  /** For which pods connections need not go by way of the agents, as this machine has a route to them. */
  readonly reachesPod: ReachesPod;
}

/** Pages of metrics below /metrics, by name: of other parts of this process, or made by somebody else. */
export type MetricPages = Readonly<Record<string, Registry | Document>>;

export interface KubeApiServerOptions
  extends Omit<ApiServerOptions, 'fields' | 'messages' | 'parts' | 'remoteAddressKey'> {
  /** Rules besides the built-in ones: system:masters may do everything, node agents what they need. */
  readonly authorize?: Authorizer;
  readonly readCertificateRequest: ReadCertificateRequest;
  /** Whether a node may create its own Node; by default every node may. */
  readonly mayRegister?: (node: string) => boolean;
  /** Checks the pod range that a node sets for itself; without it nodes may not set one. */
  readonly podRangeProblem?: PodRangeProblem;
  /** Default 10.96.0.0/16. */
  readonly serviceCIDR?: string;
  /** The range of all pods; default 10.244.0.0/16. */
  readonly clusterCIDR?: string;
  /** The ranges that external IPs of Services may be in; default none. */
  readonly externalIPRanges?: readonly string[];
  /** The domains that hosts of Dns objects may be below; default `example` and `test`, which nobody has (RFC 2606). */
  readonly dnsDomains?: readonly string[];
  /** Domain of the cluster's own names; default cluster.local. */
  readonly clusterDomain?: string;
  /** First and last; default 30000 to 32767. */
  readonly nodePorts?: readonly [number, number];
  /** How long pods stay on nodes in trouble unless they say so themselves; default 300 s each. */
  readonly defaultTolerations?: DefaultTolerations;
  /** Of which nothing may be used where no quota limits it; default none. */
  readonly limitedResources?: readonly LimitedResource[];
  /** What pods may where their namespace does not say it; default everything. */
  readonly podSecurity?: PodSecurityConfiguration;
  /** Reaches the node agents for logs and streams; without it those requests answer 503. */
  readonly nodeConnection?: NodeConnection;
  /** Of the tokens of service accounts. */
  readonly issuer?: IssuerOptions;
  /** Beside the page of this server, which is `metrics`. */
  readonly pages?: MetricPages;
  /** How runs of workflows are made that are called; without it they are not. */
  readonly workflowCalls?: RunClient;
  /** How functions are called; without it they are not. */
  readonly functionCalls?: FunctionCallOptions;
}
