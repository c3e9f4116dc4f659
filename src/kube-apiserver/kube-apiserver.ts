/**
 * Kubernetes' own API server: the engine (apiserver/) with the behavior of Kubernetes' kinds, their
 * authorization and their admission.
 */
import { certificateSigningRequestResource } from '../api/certificates/v1/certificate-signing-request.ts';
import { remoteAddressKey } from '../api/certificates/v1/conditions.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { kubernetesMessages } from '../api/message-table.ts';
import { defaultDnsDomains } from '../api/minik8s/v1/dns-host-problem.ts';
import { instancePort } from '../api/minik8s/v1/function-instance.ts';
import { kindFields } from '../api/registry.ts';
import { type ApiServer, createApiServer } from '../apiserver/app.ts';
import { forOwnAudiences, unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import type { KindBehavior } from '../apiserver/kind-behavior.ts';
import { metricsPage } from '../apiserver/metrics-page.ts';
import type { Document, ServerParts } from '../apiserver/options.ts';
import type { ClaimPlanner } from '../apiserver/registry/claim-planner.ts';
import type { DirectServe } from '../apiserver/serve.ts';
import { findObject } from '../apiserver/stored-object.ts';
import { systemUser } from '../apiserver/user.ts';
import type { SignSecretToken } from '../base/account-token.ts';
import type { Clock } from '../base/clock.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { PlacedCalls } from '../base/placed-calls.ts';
import { defaultTolerations } from './admission/default-toleration-seconds.ts';
import { admissionPlugins } from './admission/plugins.ts';
import { serviceAccountAuthenticator } from './authentication/service-account-token.ts';
import { nodeAuthorizer } from './authorization/node-authorizer.ts';
import { bootstrapperAuthorizer, type RequesterLookup } from './authorization/node-bootstrapper.ts';
import { nodeMetricsAuthorizer } from './authorization/node-metrics.ts';
import { checkNodeMayRead } from './authorization/node-reads.ts';
import { publicCallsAuthorizer } from './authorization/public-calls.ts';
import { dnsClaims } from './claims/dns-claims.ts';
import { serviceClaims } from './claims/service-claims.ts';
import type { KubeContext } from './context.ts';
import { answerCustomResources } from './custom-resources.ts';
import { limitEvents } from './event-rate.ts';
import { directCalls } from './functions/direct-calls.ts';
import { Gateway } from './functions/gateway.ts';
import { InstanceConnections } from './functions/instance-connections.ts';
import { placedCalls } from './functions/placed-calls.ts';
import { measure } from './metrics/measure.ts';
import { NodeSamples } from './metrics/node-samples.ts';
import { targetLists } from './monitoring/target-lists.ts';
import { ObjectMetricsPage, objectMetricsPath } from './object-metrics/page.ts';
import type { KubeApiServerOptions } from './options.ts';
import { usualConfiguration } from './pod-security/configuration.ts';
import { dialPod, dialPodDirectly } from './proxy/dial.ts';
import { Policy } from './rbac/policy.ts';
import { rbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { answerReview } from './reviews.ts';
import { writeLegacyClaims } from './service-accounts/claims.ts';
import { issuerDocuments } from './service-accounts/documents.ts';
import { defaultKeyAgeMs, issuerOf } from './service-accounts/issuer.ts';
import { AccountKeys } from './service-accounts/keys.ts';
import { kubeSubresources } from './subresources/subresources.ts';
import { Intake } from './triggers/intake.ts';
import { RunEnds } from './workflows/run-ends.ts';

export interface KubeApiServer extends ApiServer {
  readonly serviceCIDR: string;
  /** The owner of the server opens the keys before the first request, and keeps them current. */
  readonly accountKeys: AccountKeys;
  readonly signSecretToken: SignSecretToken;
  /** Gateway of function calls; the owner of the server starts and stops it. */
  readonly gateway: Gateway | undefined;
  /** Calls of functions for runs of workflows. */
  readonly placedCalls: PlacedCalls | undefined;
  /** Serves calls at the port of the gateway. */
  readonly directCalls: DirectServe | undefined;
}

export function createKubeApiServer(options: KubeApiServerOptions): KubeApiServer {
  const { store, cache, clock, log, issuer: { keyAgeMs = defaultKeyAgeMs } = {} } = options;
  const issuer = issuerOf(options.issuer ?? {});
  const accountKeys = new AccountKeys({ store, clock, log, ageMs: keyAgeMs });
  const own = {
    issuer,
    accountKeys,
    serviceCIDR: options.serviceCIDR ?? '10.96.0.0/16',
    clusterCIDR: options.clusterCIDR ?? '10.244.0.0/16',
    externalIPRanges: options.externalIPRanges ?? [],
    dnsDomains: options.dnsDomains ?? defaultDnsDomains,
    clusterDomain: options.clusterDomain ?? 'cluster.local',
    nodePorts: options.nodePorts ?? ([30000, 32767] as const),
    defaultTolerations: options.defaultTolerations ?? defaultTolerations,
    limitedResources: options.limitedResources ?? [],
    podSecurity: options.podSecurity ?? usualConfiguration,
    nodeConnection: options.nodeConnection,
    functions: functionCalls(options, (request) => server.handlerFor(systemUser('apiserver'))(request)),
    workflows: options.workflowCalls && { ends: new RunEnds(cache, clock), runs: options.workflowCalls },
    hasOtherRules: options.authorize !== undefined,
    readCertificateRequest: options.readCertificateRequest,
    mayRegister: options.mayRegister ?? (() => true),
    podRangeProblem:
      options.podRangeProblem ?? (() => 'the controllers of this cluster assign the pod ranges of nodes'),
  };
  const server: ApiServer = createApiServer({
    ...options,
    authenticate: unionAuthenticator([
      forOwnAudiences(options.authenticate, issuer.audiences),
      serviceAccountAuthenticator({ keys: accountKeys, issuer, cache, store, now: () => clock.now() }),
    ]),
    fields: kindFields,
    messages: kubernetesMessages,
    remoteAddressKey,
    parts: (engine) => kubeParts({ ...engine, ...own, policy: new Policy(engine.cache) }, options),
  });
  const signSecretToken: SignSecretToken = (...of) => accountKeys.sign(writeLegacyClaims(...of), null);
  const gateway = own.functions?.gateway;
  const placed = own.functions && placedCalls({ ...own.functions, clock });
  const direct = own.functions && directCalls({ ...own.functions, server, clock, random: options.random });
  return {
    ...server,
    serviceCIDR: own.serviceCIDR,
    accountKeys,
    signSecretToken,
    gateway,
    placedCalls: placed,
    directCalls: direct,
  };
}

function functionCalls(
  options: KubeApiServerOptions,
  handler: (request: Request) => Promise<Response>,
): KubeContext['functions'] {
  const { functionCalls: functions, nodeConnection, cache, clock, log } = options;
  if (!functions) return undefined;
  const gateway = new Gateway({
    cache,
    clock,
    log: log.named('gateway'),
    page: options.metrics,
    ...functions,
  });
  const dial = (pod: Pod) => {
    const address = pod.status?.podIP ?? '';
    const open = functions.reachesPod(pod, cache)
      ? dialPodDirectly(clock, address, instancePort)
      : dialPod(nodeConnection, clock, { scheme: 'http', pod, address, port: instancePort });
    return within(clock, longestDial, open);
  };
  const intake = new Intake({ cache, handler });
  return { gateway, connections: new InstanceConnections(dial), intake };
}

/**
 * Timeout in milliseconds. A running instance is connected to at once; an instance on a dead node never is.
 */
const longestDial = 5000;

async function within<T>(clock: Clock, ms: number, open: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = clock.after(ms, () => late.abort(new Error(`no connection within ${ms} ms`)));
  try {
    return await open(late.signal);
  } finally {
    timer.cancel();
  }
}

const kubeParts = (server: KubeContext, options: KubeApiServerOptions): ServerParts => ({
  behavior: kindBehavior(server),
  admission: admissionPlugins(server),
  documents: documentsOf(server, options),
  authorizers: [
    nodeAuthorizer(server),
    bootstrapperAuthorizer(requesters(server)),
    publicCallsAuthorizer(server.cache),
    rbacAuthorizer(server),
    nodeMetricsAuthorizer(rbacAuthorizer(server)),
    ...(options.authorize ? [options.authorize] : []),
  ],
});

function documentsOf(server: KubeContext, options: KubeApiServerOptions): ServerParts['documents'] {
  const { metrics, pages } = options;
  const { turns } = server;
  const objects = new ObjectMetricsPage(server);
  const page = (of: Registry | Document) => (typeof of === 'function' ? of : metricsPage(of, turns));
  return new Map<string, Document>([
    ...issuerDocuments(server, options),
    ...(metrics ? ([['/metrics', page(metrics)]] as const) : []),
    ...Object.entries(pages ?? {}).map(([name, of]) => [`/metrics/${name}`, page(of)] as const),
    [objectMetricsPath, (request) => objects.answer(request)],
    ...targetLists(server),
  ]);
}

function kindBehavior(server: KubeContext): KindBehavior {
  const claims: Readonly<Record<string, ClaimPlanner>> = {
    '/services': serviceClaims(server),
    'minik8s.io/dnses': dnsClaims,
  };
  const { clock, log, nodeConnection: connection } = server;
  const samples = new NodeSamples({ connection, clock, log });
  return {
    subresourcesOf: kubeSubresources(server),
    claimsOf: ({ group, plural }) => claims[`${group}/${plural}`],
    answerReview: (...question) => answerReview(server, ...question),
    measure: (definition, query) => measure(server, samples, definition, query),
    checkRead: checkNodeMayRead,
    limit: limitEvents(server.clock),
    answerUnknown: (...request) => answerCustomResources(server, ...request),
  };
}

function requesters(server: KubeContext): RequesterLookup {
  return async (name) => {
    const request = await findObject(server, certificateSigningRequestResource, '', name);
    return request && (request.spec.username ?? '');
  };
}
