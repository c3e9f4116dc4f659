/**
 * Kubernetes' own API server: the engine (apiserver/) with the behavior of Kubernetes' kinds, their
 * authorization and their admission.
 */
import { certificateSigningRequestResource } from '../api/certificates/v1/certificate-signing-request.ts';
import { remoteAddressKey } from '../api/certificates/v1/conditions.ts';
import type { SignSecretToken } from '../api/core/v1/service-account/token.ts';
import { kubernetesMessages } from '../api/message-table.ts';
import type { ExtensionKinds } from '../apimachinery/extension-kinds.ts';
import { type ApiServer, createApiServer } from '../apiserver/app.ts';
import { forOwnAudiences, unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { metricsPage } from '../apiserver/metrics-page.ts';
import type { Document, ServerParts } from '../apiserver/options.ts';
import { LatestRevision } from '../apiserver/reads/latest-revision.ts';
import type { ClaimPlanner } from '../apiserver/registry/claim-planner.ts';
import { findObject } from '../apiserver/stored-object.ts';
import { RequestWork } from '../apiserver/transport/request-work.ts';
import type { Registry } from '../base/metrics/registry.ts';
import { defaultTolerations } from './admission/default-toleration-seconds.ts';
import { admissionPlugins } from './admission/plugins.ts';
import { Aggregator } from './aggregation/aggregator.ts';
import { serviceAccountAuthenticator } from './authentication/service-account-token.ts';
import { authorityReader } from './authorization/authority-reader.ts';
import { nodeAuthorizer } from './authorization/node-authorizer.ts';
import { bootstrapperAuthorizer, type RequesterLookup } from './authorization/node-bootstrapper.ts';
import { nodeExecutableAuthorizer } from './authorization/node-executable.ts';
import { nodeMetricsAuthorizer } from './authorization/node-metrics.ts';
import { checkNodeMayRead, nodePartOf } from './authorization/node-reads.ts';
import { addressClaims } from './claims/address-claims.ts';
import { serviceClaims } from './claims/service-claims.ts';
import type { KubeContext } from './context.ts';
import type { ConversionCaller } from './custom-resources/conversion/webhook-versions.ts';
import { ServedDefinitions } from './custom-resources/served-definitions.ts';
import { limitEvents } from './event-rate.ts';
import { createMeasure } from './metrics/measure.ts';
import { targetLists } from './monitoring/target-lists.ts';
import { objectKinds } from './object-metrics/object-kinds.ts';
import { ObjectMetricsPage, objectMetricsPath } from './object-metrics/page.ts';
import type { KubeApiServerOptions } from './options.ts';
import { usualConfiguration } from './pod-security/configuration.ts';
import { Policy } from './rbac/policy.ts';
import { rbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { answerReview } from './reviews.ts';
import { nodeAccessOf, type ServerFeature } from './server-feature.ts';
import { writeLegacyClaims } from './service-accounts/claims.ts';
import { issuerDocuments } from './service-accounts/documents.ts';
import { defaultKeyAgeMs, issuerOf } from './service-accounts/issuer.ts';
import { AccountKeys } from './service-accounts/keys.ts';
import { kubeSubresources } from './subresources/subresources.ts';
import { WebhookClient } from './webhooks/client.ts';
import { serviceDialer } from './webhooks/service-dialer.ts';

export interface KubeApiServer extends ApiServer {
  readonly serviceCIDR: string;
  /** The owner of the server opens the keys before the first request, and keeps them current. */
  readonly accountKeys: AccountKeys;
  readonly signSecretToken: SignSecretToken;
  /** The owner of the server calls their `start` once the cache is filled, before the first request. */
  readonly definitions: ServedDefinitions;
  /** Keeps the discovery of extension servers. Resolves when the signal aborts. */
  followExtensionServers(signal: AbortSignal): Promise<void>;
  /** Resolves to why the extension server of an APIService does not answer; undefined if it does. */
  askExtensionServer(name: string, signal: AbortSignal): Promise<string | undefined>;
  /** Kinds of extension servers, for controllers. */
  readonly extensionKinds: ExtensionKinds;
}

/** Returns the settings of the server, with their defaults. */
const settingsOf = (options: KubeApiServerOptions) => ({
  serviceCIDR: options.serviceCIDR ?? '10.96.0.0/16',
  clusterCIDR: options.clusterCIDR ?? '10.244.0.0/16',
  externalIPRanges: options.externalIPRanges ?? [],
  clusterDomain: options.clusterDomain ?? 'cluster.local',
  nodePorts: options.nodePorts ?? ([30000, 32767] as const),
  defaultTolerations: options.defaultTolerations ?? defaultTolerations,
  limitedResources: options.limitedResources ?? [],
  podSecurity: options.podSecurity ?? usualConfiguration,
  nodeConnection: options.nodeConnection,
  hasOtherRules: options.authorize !== undefined,
  readCertificateRequest: options.readCertificateRequest,
  mayRegister: options.mayRegister ?? (() => true),
  podRangeProblem:
    options.podRangeProblem ?? (() => 'the controllers of this cluster assign the pod ranges of nodes'),
});

export function createKubeApiServer(options: KubeApiServerOptions): KubeApiServer {
  const { store, cache, clock, log, features, issuer: { keyAgeMs = defaultKeyAgeMs } = {} } = options;
  const issuer = issuerOf(options.issuer ?? {});
  const accountKeys = new AccountKeys({ store, clock, log, ageMs: keyAgeMs });
  const own = { issuer, accountKeys, ...settingsOf(options) };
  const latest = new LatestRevision(store, clock);
  const definitions = new ServedDefinitions({ ...options, latest, log: log.named('apiserver') });
  const made: { aggregator?: Aggregator } = {};
  const authenticate = unionAuthenticator([
    forOwnAudiences(options.authenticate, issuer.audiences),
    serviceAccountAuthenticator({ keys: accountKeys, issuer, cache, store, now: () => clock.now() }),
  ]);
  const sessions = options.sessions?.({ ...options, authenticate, accountKeys });
  const server: ApiServer = createApiServer({
    ...options,
    authenticate: sessions ? unionAuthenticator([authenticate, sessions.authenticate]) : authenticate,
    ...(sessions && { answerFirst: sessions.answerFirst }),
    messages: kubernetesMessages,
    remoteAddressKey,
    parts(engine) {
      const context = { ...engine, ...own, policy: new Policy(engine.cache), definitions };
      definitions.convertBy(conversionCaller(context));
      const aggregator = new Aggregator(context, options.frontProxy?.client);
      made.aggregator = aggregator;
      const parts = kubeParts(
        context,
        features.map((feature) => feature(context)),
        options,
      );
      return { ...parts, delegation: aggregator };
    },
  });
  const signSecretToken: SignSecretToken = (...of) => accountKeys.sign(writeLegacyClaims(...of), null);
  const { aggregator } = made;
  if (!aggregator) throw new Error('the engine has not asked for its parts');
  const extensions = {
    definitions,
    askExtensionServer: (name: string, signal: AbortSignal) => aggregator.failureOf(name, signal),
    followExtensionServers: (signal: AbortSignal) => aggregator.run(signal),
    extensionKinds: aggregator.extensionKinds,
  };
  return { ...server, serviceCIDR: own.serviceCIDR, accountKeys, signSecretToken, ...extensions };
}

function conversionCaller(server: KubeContext): ConversionCaller {
  const client = new WebhookClient(server.clock, serviceDialer(server));
  return {
    post: (call) => client.post(call),
    random: server.random,
    newWork: () => new RequestWork(server),
  };
}

const kubeParts = (
  server: KubeContext,
  features: readonly ServerFeature[],
  options: KubeApiServerOptions,
): ServerParts => ({
  behavior: kindBehavior(server, features),
  admission: admissionPlugins(server, features),
  documents: documentsOf(server, options),
  ...(options.documents && { actions: options.documents }),
  ...(options.watches && { watches: options.watches }),
  authorizers: [
    nodeAuthorizer(server, nodeAccessOf(features)),
    nodeExecutableAuthorizer,
    bootstrapperAuthorizer(requesters(server)),
    authorityReader,
    ...features.flatMap(({ authorizers = [] }) => authorizers),
    rbacAuthorizer(server),
    nodeMetricsAuthorizer(rbacAuthorizer(server)),
    ...(options.authorize ? [options.authorize] : []),
  ],
});

function documentsOf(server: KubeContext, options: KubeApiServerOptions): ServerParts['documents'] {
  const { metrics, pages } = options;
  const { turns } = server;
  const objects = new ObjectMetricsPage(server, [...objectKinds, ...options.objectMetrics]);
  const page = (of: Registry | Document) => (typeof of === 'function' ? of : metricsPage(of, turns));
  return new Map<string, Document>([
    ...issuerDocuments(server, options),
    ...(metrics ? ([['/metrics', page(metrics)]] as const) : []),
    ...Object.entries(pages ?? {}).map(([name, of]) => [`/metrics/${name}`, page(of)] as const),
    [objectMetricsPath, (request) => objects.answer(request)],
    ...targetLists(server),
    ...(options.documents ?? []),
  ]);
}

function kindBehavior(server: KubeContext, features: readonly ServerFeature[]): ServerParts['behavior'] {
  const claims: Readonly<Record<string, ClaimPlanner>> = Object.assign(
    { '/services': serviceClaims(server), 'networking.k8s.io/ipaddresses': addressClaims },
    ...features.map((feature) => feature.claims),
  );
  const subresources = Object.assign({}, ...features.map((feature) => feature.subresources));
  return {
    subresourcesOf: kubeSubresources(server, subresources),
    claimsOf: ({ group, plural }) => claims[`${group}/${plural}`],
    answerReview: (...question) => answerReview(server, ...question),
    measure: createMeasure(server),
    checkRead: checkNodeMayRead,
    partOf: nodePartOf,
    limit: limitEvents(server.clock),
    // Groups of custom kinds are domains; all others are known from the start.
    untilServed: async ({ group }, signal) => {
      if (group.includes('.')) await server.definitions.untilCurrent(signal);
    },
  };
}

function requesters(server: KubeContext): RequesterLookup {
  return async (name) => {
    const request = await findObject(server, certificateSigningRequestResource, '', name);
    return request && (request.spec.username ?? '');
  };
}
