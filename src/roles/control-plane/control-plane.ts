/**
 * The control plane of one process: etcd (embedded or given), the API server, and the controllers and scheduler
 * that call it in the same process. Started bottom-up and stopped top-down: whoever writes ends before what it
 * writes to.
 */
import { join } from 'node:path';
import { systemObjects } from '../../api/core/v1/system-objects.ts';
import { registry } from '../../api/registry.ts';
import { KindSet } from '../../apimachinery/kind-set.ts';
import { unionAuthenticator } from '../../apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../apiserver/authentication/client-certificate.ts';
import { listenHttps } from '../../apiserver/serve.ts';
import { systemUser } from '../../apiserver/user.ts';
import { aborted, unlessAborted } from '../../base/abort.ts';
import { readAsset } from '../../base/assets.ts';
import { version } from '../../base/version.ts';
import { inProcessTransport } from '../../client/in-process-transport.ts';
import { createClient } from '../../client/rest-client.ts';
import { podRangeClaims } from '../../controllers/nodes/node-ipam.ts';
import { bootstrapTokenAuthenticator } from '../../kube-apiserver/authentication/bootstrap-token.ts';
import { bootstrapObjects, defaultPlaces } from '../../kube-apiserver/bootstrap.ts';
import { createKubeApiServer } from '../../kube-apiserver/kube-apiserver.ts';
import { type Credentials, openCredentials } from '../../pki/credentials.ts';
import type { Store } from '../../storage/store.ts';
import { createWatchCache } from '../../storage/watch-cache.ts';
import { CertificateManager } from '../certificate-manager.ts';
import { inBackground } from '../in-background.ts';
import type { ProcessContext } from '../process-context.ts';
import type { Settings } from '../settings/settings.ts';
import { writeAdminKubeconfig } from './admin-kubeconfig.ts';
import { announceMaster } from './announce-master.ts';
import { certificateRequests } from './certificate-requests.ts';
import { createNodeConnection } from './node-connection.ts';
import { runControllers } from './run-controllers.ts';
import { servingCertificates } from './serving-certificates.ts';
import { authorityIn } from './shared-authority.ts';
import { agreeOnSettings } from './shared-settings.ts';
import { openStorage } from './storage.ts';
import { readTokenFile } from './token-file.ts';

export const controlPlaneSettings = [
  'data-dir',
  'bind-address',
  'port',
  'etcd-endpoints',
  'etcd-ca',
  'etcd-cert',
  'etcd-key',
  'token-auth-file',
  'service-cidr',
  'cluster-cidr',
  'cluster-dns',
  'cluster-domain',
  'node-ports',
  'max-requests-inflight',
  'max-watches-per-user',
  'max-connections',
  'node-approval',
  'node-monitor-grace-period',
  'default-not-ready-toleration-seconds',
  'default-unreachable-toleration-seconds',
  'scheduler-policy',
  'log-level',
] as const;

export interface ControlPlaneOptions extends ProcessContext {
  readonly settings: Settings<(typeof controlPlaneSettings)[number]>;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
  /** The URL the administrator's kubeconfig names. */
  readonly server: string;
  /** The node of this process: nobody needs to add it, and its agent listens at this address. */
  readonly ownNode?: { readonly node: string; readonly address: string };
}

export interface ControlPlane {
  /** PEM of the cluster's authority. */
  readonly authority: string;
  readonly certificateManager: CertificateManager;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Resolves when everything has ended, in order; rejects when a part cannot go on. */
  readonly stopped: Promise<void>;
}

/**
 * Resolves when the API server answers. Ends when the signal aborts; when it aborts before, or a part cannot start,
 * rejects once everything that had been started has ended.
 */
export async function startControlPlane(
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<ControlPlane> {
  const { settings, clock, random, log } = options;
  await using started = new AsyncDisposableStack();
  const tokenFile = settings['token-auth-file'];
  const tokens = tokenFile === undefined ? [] : await readTokenFile(tokenFile);
  const store = await openStorage(options, started, signal);
  if (settings['etcd-endpoints']) await agreeOnSettings(store, settings);
  const credentials = await openClusterCredentials(settings, store, () => clock.now());
  const authority = credentials.authority.certificate;
  const certificateManager = new CertificateManager(credentials);
  const certificates = await servingCertificates({ ...options, certificateManager });
  const kubeconfig = await writeAdminKubeconfig({ ...options, certificateManager, authority });
  void inBackground(started, (until) => certificateManager.run({ clock, log }, until));
  const watchCache = createWatchCache({ store, prefix: '/registry/', clock, log });
  const caching = inBackground(started, (until) => watchCache.run(until));
  await unlessAborted(signal, watchCache.synced);

  const requests = certificateRequests(credentials.authority);
  const kinds = new KindSet(registry);
  const server = createKubeApiServer({
    store,
    cache: watchCache.cache,
    kinds,
    authenticate: unionAuthenticator([
      clientCertificateAuthenticator,
      bearerTokenAuthenticator(
        () => tokens,
        () => clock.now(),
      ),
      bootstrapTokenAuthenticator({ cache: watchCache.cache, now: () => clock.now() }),
    ]),
    readCertificateRequest: requests.read,
    mayRegister: (node) => settings['node-approval'] === 'auto' || node === options.ownNode?.node,
    podRangeProblem: podRangeClaims(settings['cluster-cidr']),
    clock,
    random,
    log,
    serviceCIDR: settings['service-cidr'],
    nodePorts: settings['node-ports'],
    defaultTolerations: {
      notReadySeconds: settings['default-not-ready-toleration-seconds'],
      unreachableSeconds: settings['default-unreachable-toleration-seconds'],
    },
    limits: {
      requests: settings['max-requests-inflight'],
      watches: settings['max-watches-per-user'],
    },
    version: version(),
    fieldDocs: async () => JSON.parse(readAsset('field-docs.json').toString('utf8')),
    advertiseAddress: `${options.advertiseAddress}:${settings.port}`,
    nodeConnection: createNodeConnection({
      cache: watchCache.cache,
      authority,
      client: certificates.kubeletClient,
      ...(options.ownNode && { own: options.ownNode }),
    }),
  });
  const clientOf = (component: string, through?: Store) =>
    createClient(inProcessTransport(server.handlerFor(systemUser(component), through)), {
      clock,
      random,
    });
  const places = defaultPlaces(settings['service-cidr'], settings.port);
  const objects = systemObjects({
    ...places,
    dnsAddress: settings['cluster-dns'] ?? places.dnsAddress,
    dnsDomain: settings['cluster-domain'],
  });
  await bootstrapObjects(server, objects);
  signal.throwIfAborted();
  const serving = new AbortController();
  const listener = await listenHttps({
    app: server.app,
    address: settings['bind-address'],
    port: settings.port,
    tls: { identity: certificates.serving, clientCA: authority },
    signal: serving.signal,
    maxConnections: settings['max-connections'],
    clock,
    log,
  });
  started.defer(() => {
    serving.abort();
    return listener.closed;
  });
  const published = Promise.withResolvers<void>();
  const announcing = inBackground(started, (until) => {
    const master = { address: options.advertiseAddress, port: settings.port };
    const client = clientOf('apiserver');
    return announceMaster({ ...options, client, master, objects, onPublished: published.resolve }, until);
  });
  await unlessAborted(signal, Promise.race([published.promise, announcing]));
  const running = started.move();
  const managing = runControllers({ ...options, kinds, certificates: requests }, { store, clientOf }, signal);
  const stopped = (async () => {
    try {
      await Promise.race([aborted(signal), caching, managing]);
      await managing;
    } finally {
      await running.disposeAsync();
    }
  })();
  return { authority, certificateManager, kubeconfig, stopped };
}

/** An embedded etcd has one master, whose directory is where the authority lives; a shared one has the authority. */
function openClusterCredentials(
  settings: Settings<'data-dir' | 'etcd-endpoints'>,
  store: Store,
  now: () => number,
): Promise<Credentials> {
  const directory = join(settings['data-dir'], 'pki');
  const shared = settings['etcd-endpoints'] && authorityIn(store, directory);
  return openCredentials(directory, now, shared);
}
