/** Options of Kubernetes' own API server. */

import type { KindSet } from '../apimachinery/kind-set.ts';
import type { Authenticator } from '../apiserver/authentication/authenticator.ts';
import type { Authorizer } from '../apiserver/authorization/authorizer.ts';
import type { AnswerFirst, ApiServerOptions, Document } from '../apiserver/options.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { ReadCertificateRequest } from '../formats/certificate-request.ts';
import type { Store } from '../storage/store.ts';
import type { DefaultTolerations } from './admission/default-toleration-seconds.ts';
import type { LimitedResource } from './admission/quota-checks.ts';
import type { ProxyIdentity } from './aggregation/connections.ts';
import type { PodRangeProblem } from './context.ts';
import type { NodeConnection } from './node-connection.ts';
import type { ObjectMetrics } from './object-metrics/family.ts';
import type { PodSecurityConfiguration } from './pod-security/configuration.ts';
import type { ServerFeatureFactory } from './server-feature.ts';
import type { IssuerOptions } from './service-accounts/issuer.ts';
import type { AccountKeys } from './service-accounts/keys.ts';

/**
 * Additional pages of metrics below /metrics, by name: registries of other parts of this process, or
 * documents.
 */
export type MetricPages = Readonly<Record<string, Registry | Document>>;

/** Dependencies of the sessions of browsers. */
export interface SessionParts {
  /** Authenticates by all credentials besides sessions. */
  readonly authenticate: Authenticator;
  readonly accountKeys: Pick<AccountKeys, 'derive'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface BrowserSessions {
  /** Authenticates by sessions. */
  readonly authenticate: Authenticator;
  readonly answerFirst: AnswerFirst;
}

export interface KubeApiServerOptions
  extends Omit<ApiServerOptions, 'messages' | 'parts' | 'remoteAddressKey'> {
  /** Kinds that exist from the start; those of CustomResourceDefinitions are added to them. */
  readonly kinds: KindSet;
  /**
   * Authorization rules besides the built-in ones: system:masters may do everything, kubelets what their
   * nodes and pods need.
   */
  readonly authorize?: Authorizer;
  readonly readCertificateRequest: ReadCertificateRequest;
  /** Returns whether a node may create its own Node; by default every node may. */
  readonly mayRegister?: (node: string) => boolean;
  /** Checks the pod range that a node sets for itself; if absent, nodes may not set one. */
  readonly podRangeProblem?: PodRangeProblem;
  /** The ranges of Services, one or one of each family (`familyRanges`); default 10.96.0.0/16. */
  readonly serviceCIDR?: string;
  /** The ranges of all pods, one or one of each family; default 10.244.0.0/16. */
  readonly clusterCIDR?: string;
  /** Ranges of allowed external IPs of Services; default none. */
  readonly externalIPRanges?: readonly string[];
  /** Domain of the cluster's own names; default cluster.local. */
  readonly clusterDomain?: string;
  /** First and last node port; default 30000 to 32767. */
  readonly nodePorts?: readonly [number, number];
  /** Default tolerations of pods for unhealthy nodes; default 300 s each. */
  readonly defaultTolerations?: DefaultTolerations;
  /** Resources that may only be used within a quota; default none. */
  readonly limitedResources?: readonly LimitedResource[];
  /** Policy of pods in namespaces without labels for it; default everything is allowed. */
  readonly podSecurity?: PodSecurityConfiguration;
  /** Connects to kubelets for logs and streams; if absent, such requests are answered with 503. */
  readonly nodeConnection?: NodeConnection;
  /**
   * Certificate with which this server calls extension servers; without it, they cannot trust the names of
   * users.
   */
  readonly frontProxy?: { readonly client: Current<ProxyIdentity> };
  /** Issuer of the tokens of service accounts. */
  readonly issuer?: IssuerOptions;
  /** Pages in addition to this server's own, which is `metrics`. */
  readonly pages?: MetricPages;
  /** Documents in addition to this server's own, by path; they are served for POST too. */
  readonly documents?: ReadonlyMap<string, Document>;
  /** Texts that clients may watch, by the paths of their documents. */
  readonly watches?: ReadonlyMap<string, Current<string>>;
  /** Metrics of the objects of features, for /metrics/objects. */
  readonly objectMetrics: readonly ObjectMetrics[];
  /** Sessions of browsers; without it, the server has none. */
  readonly sessions?: (parts: SessionParts) => BrowserSessions;
  /** Features besides Kubernetes' own kinds. */
  readonly features: readonly ServerFeatureFactory[];
}
