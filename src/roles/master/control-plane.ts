/**
 * The control plane of one process: control-plane/ together with the resources of the operating system, which
 * are etcd (embedded or given), files, certificates and a socket. Each part is stopped before the parts it
 * depends on.
 */

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { KindSet } from '../../apimachinery/kind-set.ts';
import { type Authenticator, unionAuthenticator } from '../../apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator, type TokenEntry } from '../../apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../apiserver/authentication/client-certificate.ts';
import { listenHttps } from '../../apiserver/transport/serve.ts';
import { restoringMark } from '../../backup/restoring-mark.ts';
import { isInterrupted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Current } from '../../base/current.ts';
import { inBackground } from '../../base/in-background.ts';
import { version } from '../../base/version.ts';
import { createControlPlane } from '../../control-plane/control-plane.ts';
import { leaseNameOf } from '../../controllers/masters/masters-plan.ts';
import { dashboardSessions } from '../../dashboard/server/dashboard.ts';
import { gatewayApp } from '../../features/functions/server/gateway-app.ts';
import { type GatewayOptions, serveGateway } from '../../features/functions/server/gateway-port.ts';
import { podsOfNode } from '../../features/functions/server/reached-pods.ts';
import { kindFields, kindsWith } from '../../features/kinds.ts';
import { featureNames } from '../../features/names.ts';
import { featureValues } from '../../features/settings.ts';
import { triggerPaths } from '../../features/triggers/server/trigger-paths.ts';
import { bootstrapTokenAuthenticator } from '../../kube-apiserver/authentication/bootstrap-token.ts';
import { expiredNodeAuthenticator } from '../../kube-apiserver/authentication/expired-node.ts';
import { defaultIssuer } from '../../kube-apiserver/service-accounts/issuer.ts';
import { readAsset } from '../../os/assets.ts';
import { systemExec } from '../../os/exec.ts';
import { authorityProblem } from '../../pki/credentials.ts';
import type { Cache } from '../../storage/cache.ts';
import { raiseData } from '../../storage/data-format.ts';
import { tracedStore } from '../../storage/traced-store.ts';
import { CertificateManager } from '../certificate-manager.ts';
import { readIPv6Addresses } from '../ipv6-address.ts';
import type { ProcessContext } from '../process-context.ts';
import { processMetrics } from '../process-metrics.ts';
import type { PartSettings, Settings } from '../settings/setting-table.ts';
import { installedExecutable, isService } from '../upgrade/running-service.ts';
import { writeAdminKubeconfig } from './admin-kubeconfig.ts';
import { readAdmissionFile } from './admission-file.ts';
import { authorityDocument, watchedAuthorities } from './authority-document.ts';
import { prepareBackups } from './backups.ts';
import { certificateRequests } from './certificate-requests.ts';
import { followAuthorities, openClusterCredentials } from './cluster-credentials.ts';
import { etcdPage } from './etcd-page.ts';
import { openFrontProxy } from './front-proxy.ts';
import { HeldPorts } from './held-ports.ts';
import { DiskImageStore } from './image-store.ts';
import { type Joins, joinsOf, withJoins } from './joins.ts';
import { administrator, followMasterOrders, type MasterUpgradesOptions } from './master-upgrades.ts';
import { createNodeConnection } from './node-connection.ts';
import { executableDocuments } from './own-executable.ts';
import { openPrometheus } from './prometheus.ts';
import { servingCertificates } from './serving-certificates.ts';
import { agreeOnSettings } from './shared-settings.ts';
import { openStorage } from './storage.ts';
import { readTokenFile } from './token-file.ts';

export interface ControlPlaneOptions extends ProcessContext {
  readonly settings: PartSettings<'control plane'>;
  /** Configuration file of this process. */
  readonly configFile: string;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
  /** The server's URL in the administrator's kubeconfig. */
  readonly server: string;
  /** The node of this process. It needs no join, and its agent listens at this address. */
  readonly ownNode?: { readonly node: string; readonly address: string };
}

export interface ControlPlane {
  /** PEM of the cluster's authorities. */
  readonly authority: Current<string>;
  readonly certificateManager: CertificateManager;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** True if other masters may share the store from the start. */
  readonly isShared: boolean;
  /** Resolves when all parts have ended, in order; rejects when a part fails. */
  readonly stopped: Promise<void>;
}

/**
 * Resolves when the API server answers. The control plane ends when the signal aborts. If the signal aborts
 * earlier, or a part cannot start, rejects once every part that had been started has ended.
 */
export async function startControlPlane(
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<ControlPlane> {
  const { settings, clock, log, tracer } = options;
  await using started = new AsyncDisposableStack();
  requireRestored(settings['data-dir']);
  const tokenFile = settings['token-auth-file'];
  const tokens = tokenFile === undefined ? [] : await readTokenFile(tokenFile);
  const admission = await admissionSettings(settings['admission-control-config-file']);
  const metricSource = await openPrometheus(settings, clock, started);
  const { store: opened, etcdSocket, membership } = await openStorage(options, started, signal);
  await raiseData(opened, {
    version: version(),
    onStep: (line) => log.info('the stored data were changed', { line }),
  });
  const store = tracer ? tracedStore(opened) : opened;
  const backups = await prepareBackups({ ...options, etcdSocket });
  const isShared = () => membership?.isShared ?? true;
  const sharesStore = membership ? membership.sharesStore : true;
  if (sharesStore === true) await agreeOnSettings(store, settings);
  const { credentials, rotation, authority } = await openClusterCredentials({ ...options, store, isShared });
  reportAuthority(credentials.authority, options);
  const certificateManager = new CertificateManager(credentials);
  const addresses6 = await listenAddresses6(options);
  const certificates = await servingCertificates({ ...options, certificateManager, addresses6 });
  const admin = await writeAdminKubeconfig({ ...options, certificateManager, authority });
  void inBackground(started, (until) => certificateManager.run({ clock, log }, until));
  followAuthorities({ credentials, rotation, authority, certificateManager, log });
  void inBackground(started, (until) => rotation.follow({ clock, log }, until));
  const frontProxy = await openFrontProxy({ ...options, store }, started);
  const controlPlane = createControlPlane({
    ...processParts(options),
    ...planeSettings(options),
    ...admission,
    ...{ store, sharesStore, frontProxy, frontProxyTrust: frontProxy },
    authenticate: authenticatorOf(tokens, clock),
    certificates: certificateRequests(credentials.authorities, authority),
    documents: ownDocuments({ rotation, credentials, authority, frontProxy, now: () => clock.now() }),
    watches: watchedAuthorities({ credentials, authority }),
    autoscaling: autoscalingOf(settings, metricSource),
    ...(etcdSocket && { pages: { etcd: etcdPage(etcdSocket) } }),
    ...sessionsOf(settings),
    nodeConnection: (cache) =>
      createNodeConnection({
        cache,
        authority,
        client: certificates.kubeletClient,
        ...(options.ownNode && { own: options.ownNode }),
      }),
  });
  const tls = { identity: certificates.serving, clientCA: authority };
  const joins = joinsOf(membership, { ...options, store, credentials, cache: controlPlane.cache });
  // With several masters, clients connect to another one. After Ctrl-C, no restart of this one is expected.
  const mayHold = () => !isShared() && !isInterrupted(signal);
  const running = controlPlane.run(signal, (until) =>
    listenForClients(options, { ...controlPlane, joins, mayHold }, tls, until),
  );
  await Promise.race([controlPlane.ready, running]);
  if (backups) void inBackground(started, (until) => backups(controlPlane, until));
  await followOrders({ ...options, authority, identity: admin.identity }, started);
  const beneath = started.move();
  const stopped = (async () => {
    try {
      await running;
    } finally {
      await beneath.disposeAsync();
    }
  })();
  return { authority, certificateManager, kubeconfig: admin.path, stopped, isShared: sharesStore === true };
}

const sessionsOf = ({ dashboard }: Pick<ControlPlaneOptions['settings'], 'dashboard'>) =>
  dashboard === 'true' ? { sessions: dashboardSessions(() => readAsset('dashboard.pack')) } : {};

const autoscalingOf = (
  settings: Pick<ControlPlaneOptions['settings'], 'hpa-sync-period' | 'hpa-tolerance'>,
  metricSource: Awaited<ReturnType<typeof openPrometheus>>,
) => ({ syncPeriodMs: settings['hpa-sync-period'], tolerance: settings['hpa-tolerance'], metricSource });

/** Throws if a restoration of a backup was interrupted while it moved folders. */
function requireRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringMark))) return;
  throw new Error(
    `a restoration into ${dataDir} was interrupted: run minik8s backup restore again, with the same backup`,
  );
}

function reportAuthority(
  { certificate }: { readonly certificate: string },
  { clock, log }: ControlPlaneOptions,
): void {
  const problem = authorityProblem(certificate, clock.now());
  if (problem !== undefined) log.error(problem);
}

/** Carries out upgrades that an administrator orders, if this process is an installed service. */
async function followOrders(
  options: ControlPlaneOptions & Parameters<typeof administrator>[0],
  started: AsyncDisposableStack,
): Promise<void> {
  if (!(await isService())) return;
  const { settings, advertiseAddress: address, clock, random, log } = options;
  const orders: MasterUpgradesOptions = {
    ...installedExecutable,
    ...{ exec: systemExec, clock, random, log, connect: administrator(options) },
    directory: join(settings['data-dir'], 'upgrade'),
    lease: leaseNameOf({ address, port: settings.port }),
  };
  void inBackground(started, (until) => followMasterOrders(orders, until));
}

/** Documents of a master besides those of every API server. */
function ownDocuments(options: Parameters<typeof authorityDocument>[0]) {
  const authorities = authorityDocument(options);
  return (cache: Cache) => new Map([...authorities(cache), ...executableDocuments()]);
}

interface OwnServer {
  readonly joins: Joins;
  /** Returns whether connections may wait for the next start of this master. */
  readonly mayHold: () => boolean;
}

/** Resolves to the IPv6 addresses at which the API server listens. */
const listenAddresses6 = async ({ settings, advertiseAddress }: ControlPlaneOptions) =>
  settings['bind-address'] === '::' ? readIPv6Addresses(systemExec, advertiseAddress) : [];

/** Opens the API server's port and, with the feature functions, the port of the gateway. */
async function listenForClients(
  { settings, clock, log }: ControlPlaneOptions,
  { cache, directCalls, joins, server, mayHold }: ReturnType<typeof createControlPlane> & OwnServer,
  tls: Parameters<typeof listenHttps>[0]['tls'],
  until: AbortSignal,
): Promise<{ readonly closed: Promise<void> }> {
  const held = new HeldPorts({ exec: systemExec, log, holdMs: settings['restart-hold'] });
  const common = {
    address: settings['bind-address'],
    tls,
    signal: until,
    // The gateway's port is also closed when its last object is deleted.
    beforeClose: async () => {
      if (until.aborted && mayHold()) await held.hold();
    },
    maxConnections: settings['max-connections'],
    clock,
    log,
  };
  const { app } = server;
  const served = withJoins(app, joins);
  const listening = await listenHttps({ ...common, app: served, port: settings.port, http2: settings.http2 });
  held.opened(listening.port);
  const own = { settings, cache, directCalls, clock, log, app: gatewayApp(app, triggerPaths(cache)) };
  const listen = (port: Parameters<GatewayOptions['listen']>[0], signal: AbortSignal) =>
    listenHttps({ ...common, ...port, signal });
  const gateway = hasCalls(settings) ? serveGateway({ ...own, listen, held }, until) : undefined;
  if (!gateway) await held.release();
  return { closed: Promise.all([listening.closed, gateway]).then(() => undefined) };
}

/** Returns which components create their loggers after the start, for the warning of `--log-level`. */
export const laterComponents = ({ isShared }: Pick<ControlPlane, 'isShared'>): string | undefined =>
  isShared ? 'controllers have none until this master leads' : undefined;

/** Returns true if the feature functions is on: without it, there is nothing that the gateway can call. */
const hasCalls = ({ features = featureNames }: Settings<'features'>) => features.includes('functions');

const admissionSettings = (file: string | undefined): ReturnType<typeof readAdmissionFile> =>
  file === undefined ? Promise.resolve({}) : readAdmissionFile(file);

/** Returns the options of the control plane that come from this process and its machine. */
const processParts = (options: ControlPlaneOptions) => ({
  clock: options.clock,
  random: options.random,
  log: options.log,
  loopMeter: options.loopMeter,
  ...(options.tracer && { tracer: options.tracer }),
  master: {
    address: options.advertiseAddress,
    port: options.settings.port,
    hostname: hostname(),
    version: version(),
  },
  ...(options.ownNode && { ownNode: options.ownNode.node, reachesPod: podsOfNode(options.ownNode.node) }),
  version: version(),
  processMetrics,
  fields: kindFields,
  fieldDocs: async () => JSON.parse(readAsset('field-docs.json').toString('utf8')),
});

/** Settings of the control plane that come from flags. */
const planeSettings = ({ settings, advertiseAddress }: ControlPlaneOptions) => ({
  kinds: new KindSet(kindsWith(settings.features ?? featureNames)),
  ...(settings.features && { features: settings.features }),
  serviceCidr: settings['service-cidr'],
  clusterCidr: settings['cluster-cidr'],
  externalIPRanges: settings['service-external-ip-ranges'] ?? [],
  ...featureValues(settings),
  clusterDomain: settings['cluster-domain'],
  imageStore: new DiskImageStore({
    directory: join(settings['data-dir'], 'images'),
    master: `${advertiseAddress}:${settings.port}`,
  }),
  ...(settings['cluster-dns'] !== undefined && { dnsAddress: settings['cluster-dns'] }),
  nodePorts: settings['node-ports'],
  nodeApproval: settings['node-approval'],
  nodeGracePeriodMs: settings['node-monitor-grace-period'],
  eventTtlMs: settings['event-ttl'],
  scheduler: { policy: settings['scheduling-policy'], scoring: settings['scoring-strategy'] },
  defaultTolerations: {
    notReadySeconds: settings['default-not-ready-toleration-seconds'],
    unreachableSeconds: settings['default-unreachable-toleration-seconds'],
  },
  issuer: {
    issuers: settings['service-account-issuer'] ?? [defaultIssuer(settings['cluster-domain'])],
    extendsTokens: settings['service-account-extend-token-expiration'] === 'true',
    keyAgeMs: settings['service-account-key-age'],
    ...(settings['service-account-jwks-uri'] && { jwksURI: settings['service-account-jwks-uri'] }),
  },
  limits: {
    requests: settings['max-requests-inflight'],
    watches: settings['max-watches-per-user'],
  },
});

/** Authenticates with client certificates, expired ones of nodes, tokens of a file, and bootstrap tokens. */
const authenticatorOf =
  (tokens: readonly TokenEntry[], { now }: Clock) =>
  (cache: Cache): Authenticator =>
    unionAuthenticator([
      clientCertificateAuthenticator,
      expiredNodeAuthenticator(now),
      bearerTokenAuthenticator(() => tokens, now),
      bootstrapTokenAuthenticator({ cache, now }),
    ]);
