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
import { restoringMark } from '../../backup/restore.ts';
import type { Clock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import { version } from '../../base/version.ts';
import { createControlPlane } from '../../control-plane/control-plane.ts';
import { gatewayApp } from '../../features/functions/server/gateway-app.ts';
import { type GatewayOptions, serveGateway } from '../../features/functions/server/gateway-port.ts';
import { podsOfNode } from '../../features/functions/server/reached-pods.ts';
import { kindFields, kindsWith } from '../../features/kinds.ts';
import { featureNames } from '../../features/names.ts';
import { featureValues } from '../../features/settings.ts';
import { triggerPaths } from '../../features/triggers/server/trigger-paths.ts';
import { bootstrapTokenAuthenticator } from '../../kube-apiserver/authentication/bootstrap-token.ts';
import { defaultIssuer } from '../../kube-apiserver/service-accounts/issuer.ts';
import { readAsset } from '../../os/assets.ts';
import { systemExec } from '../../os/exec.ts';
import { authorityProblem, type Credentials, openCredentials } from '../../pki/credentials.ts';
import type { Cache } from '../../storage/cache.ts';
import { raiseData } from '../../storage/data-format.ts';
import type { Store } from '../../storage/store.ts';
import { tracedStore } from '../../storage/traced-store.ts';
import { CertificateManager } from '../certificate-manager.ts';
import type { ProcessContext } from '../process-context.ts';
import { processMetrics } from '../process-metrics.ts';
import type { PartSettings, Settings } from '../settings/setting-table.ts';
import { writeAdminKubeconfig } from './admin-kubeconfig.ts';
import { readAdmissionFile } from './admission-file.ts';
import { prepareBackups } from './backups.ts';
import { certificateRequests } from './certificate-requests.ts';
import { etcdPage } from './etcd-page.ts';
import { HeldPorts } from './held-ports.ts';
import { createNodeConnection } from './node-connection.ts';
import { executableDocuments } from './own-executable.ts';
import { openPrometheus } from './prometheus.ts';
import { servingCertificates } from './serving-certificates.ts';
import { authorityIn } from './shared-authority.ts';
import { agreeOnSettings } from './shared-settings.ts';
import { openStorage } from './storage.ts';
import { readTokenFile } from './token-file.ts';

export interface ControlPlaneOptions extends ProcessContext {
  readonly settings: PartSettings<'control plane'>;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
  /** The server's URL in the administrator's kubeconfig. */
  readonly server: string;
  /** The node of this process. It needs no join, and its agent listens at this address. */
  readonly ownNode?: { readonly node: string; readonly address: string };
}

export interface ControlPlane {
  /** PEM of the cluster's authority. */
  readonly authority: string;
  readonly certificateManager: CertificateManager;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
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
  const opened = await openStorage(options, started, signal);
  const { etcdSocket } = opened;
  await raiseData(opened.store, {
    version: version(),
    onStep: (line) => log.info('the stored data were changed', { line }),
  });
  const store = tracer ? tracedStore(opened.store) : opened.store;
  const backups = await prepareBackups({ ...options, etcdSocket });
  if (settings['etcd-endpoints']) await agreeOnSettings(store, settings);
  const credentials = await openClusterCredentials(settings, store, () => clock.now());
  const authority = credentials.authority.certificate;
  const problem = authorityProblem(authority, clock.now());
  if (problem !== undefined) log.error(problem);
  const certificateManager = new CertificateManager(credentials);
  const certificates = await servingCertificates({ ...options, certificateManager });
  const kubeconfig = await writeAdminKubeconfig({ ...options, certificateManager, authority });
  void inBackground(started, (until) => certificateManager.run({ clock, log }, until));
  const controlPlane = createControlPlane({
    ...processParts(options),
    ...planeSettings(settings),
    ...admission,
    store,
    authenticate: authenticatorOf(tokens, clock),
    certificates: certificateRequests(credentials.authority),
    autoscaling: {
      syncPeriodMs: settings['hpa-sync-period'],
      tolerance: settings['hpa-tolerance'],
      metricSource,
    },
    ...(etcdSocket && { pages: { etcd: etcdPage(etcdSocket) } }),
    documents: executableDocuments(),
    nodeConnection: (cache) =>
      createNodeConnection({
        cache,
        authority,
        client: certificates.kubeletClient,
        ...(options.ownNode && { own: options.ownNode }),
      }),
  });
  const tls = { identity: certificates.serving, clientCA: authority };
  const running = controlPlane.run(signal, (until) => listenForClients(options, controlPlane, tls, until));
  await Promise.race([controlPlane.ready, running]);
  if (backups) void inBackground(started, (until) => backups(controlPlane, until));
  const beneath = started.move();
  const stopped = (async () => {
    try {
      await running;
    } finally {
      await beneath.disposeAsync();
    }
  })();
  return { authority, certificateManager, kubeconfig, stopped };
}

/** Throws if a restoration of a backup was interrupted while folders changed their places. */
function requireRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringMark))) return;
  throw new Error(
    `a restoration into ${dataDir} was interrupted: run minik8s backup restore again, with the same backup`,
  );
}

/** Opens the API server's port and, with functions, the gateway's. */
async function listenForClients(
  { settings, clock, log }: ControlPlaneOptions,
  { cache, directCalls, server: { app } }: ReturnType<typeof createControlPlane>,
  tls: Parameters<typeof listenHttps>[0]['tls'],
  until: AbortSignal,
): Promise<{ readonly closed: Promise<void> }> {
  const held = new HeldPorts({ exec: systemExec, log, holdMs: holdMsOf(settings) });
  const common = {
    address: settings['bind-address'],
    tls,
    signal: until,
    // The gateway's port is also closed when its last object is deleted.
    beforeClose: async () => {
      if (until.aborted) await held.hold();
    },
    maxConnections: settings['max-connections'],
    clock,
    log,
  };
  const server = await listenHttps({ ...common, app, port: settings.port, http2: settings.http2 });
  held.opened(server.port);
  const own = { settings, cache, directCalls, clock, log, app: gatewayApp(app, triggerPaths(cache)) };
  const listen = (port: Parameters<GatewayOptions['listen']>[0], signal: AbortSignal) =>
    listenHttps({ ...common, ...port, signal });
  const gateway = hasCalls(settings) ? serveGateway({ ...own, listen, held }, until) : undefined;
  if (!gateway) await held.release();
  return { closed: Promise.all([server.closed, gateway]).then(() => undefined) };
}

/** Clients of several masters turn to another one, so their connections do not wait for this one. */
const holdMsOf = (settings: Settings<'etcd-endpoints' | 'restart-hold'>) =>
  settings['etcd-endpoints'] ? 0 : settings['restart-hold'];

/** Returns which components make their loggers after the start, for the warning of `--log-level`. */
export const laterComponents = (settings: Settings<'etcd-endpoints'>): string | undefined =>
  settings['etcd-endpoints'] && 'controllers have none until this master leads';

/** Everything that the gateway calls needs the functions. */
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
  master: { address: options.advertiseAddress, port: options.settings.port, hostname: hostname() },
  ...(options.ownNode && { ownNode: options.ownNode.node, reachesPod: podsOfNode(options.ownNode.node) }),
  version: version(),
  processMetrics,
  fields: kindFields,
  fieldDocs: async () => JSON.parse(readAsset('field-docs.json').toString('utf8')),
});

/** Settings of the control plane that come from flags. */
const planeSettings = (settings: ControlPlaneOptions['settings']) => ({
  kinds: new KindSet(kindsWith(settings.features ?? featureNames)),
  ...(settings.features && { features: settings.features }),
  sharesStore: Boolean(settings['etcd-endpoints']),
  serviceCidr: settings['service-cidr'],
  clusterCidr: settings['cluster-cidr'],
  externalIPRanges: settings['service-external-ip-ranges'] ?? [],
  ...featureValues(settings),
  clusterDomain: settings['cluster-domain'],
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

/** Authenticates with client certificates, the tokens of the token file, and bootstrap tokens. */
const authenticatorOf =
  (tokens: readonly TokenEntry[], { now }: Clock) =>
  (cache: Cache): Authenticator =>
    unionAuthenticator([
      clientCertificateAuthenticator,
      bearerTokenAuthenticator(() => tokens, now),
      bootstrapTokenAuthenticator({ cache, now }),
    ]);

/**
 * Opens the cluster's credentials. The single master with an embedded etcd has the authority in its
 * directory; masters with a shared etcd read the authority from it.
 */
function openClusterCredentials(
  settings: Settings<'data-dir' | 'etcd-endpoints'>,
  store: Store,
  now: () => number,
): Promise<Credentials> {
  const directory = join(settings['data-dir'], 'pki');
  const shared = settings['etcd-endpoints'] && authorityIn(store, directory);
  return openCredentials(directory, now, shared);
}
