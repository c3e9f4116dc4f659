/**
 * The control plane of one process: etcd (embedded or given), the API server, and the controllers and scheduler
 * that call it in the same process. Started bottom-up and stopped top-down: whoever writes ends before what it
 * writes to.
 */
import { access, constants } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { registry } from '../api/registry.ts';
import { createApiServer } from '../apiserver/app.ts';
import { unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../apiserver/authentication/client-certificate.ts';
import { bootstrapObjects } from '../apiserver/bootstrap.ts';
import { listenHttps } from '../apiserver/serve.ts';
import { systemUser } from '../apiserver/user.ts';
import { aborted, unlessAborted } from '../base/abort.ts';
import { extractAsset } from '../base/assets.ts';
import { UsageError } from '../base/usage-error.ts';
import { version } from '../base/version.ts';
import type { Client } from '../client/client.ts';
import { inProcessTransport } from '../client/in-process-transport.ts';
import { createClient } from '../client/rest-client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import { createEventRecorder } from '../controller-runtime/event-recorder.ts';
import { createManager } from '../controller-runtime/manager.ts';
import { controllers } from '../controllers/index.ts';
import type { Credentials } from '../pki/credentials.ts';
import { scheduler } from '../scheduler/scheduler.ts';
import { runCompactor } from '../storage/compactor.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../storage/embedded-etcd.ts';
import { connectEtcd, type EtcdOptions } from '../storage/etcd.ts';
import { type Store, StoreUnavailableError } from '../storage/store.ts';
import { createWatchCache } from '../storage/watch-cache.ts';
import { createNodeConnection } from './node-connection.ts';
import type { ProcessContext } from './process-context.ts';
import type { Settings } from './settings.ts';
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
  'node-ports',
  'scheduler-policy',
  'log-level',
] as const;

export interface ControlPlaneOptions extends ProcessContext {
  readonly settings: Settings<(typeof controlPlaneSettings)[number]>;
  readonly credentials: Credentials;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
  /** Where the only node's agent listens, when that is not the address in its Node object. */
  readonly agentAddress?: string;
}

export interface ControlPlane {
  /** Resolves when everything has ended, in order; rejects when a part can not go on. */
  readonly stopped: Promise<void>;
}

/**
 * Resolves when the API server answers. Ends when the signal aborts; when it aborts before, or a part can not start,
 * rejects once everything that had been started has ended.
 */
export async function startControlPlane(
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<ControlPlane> {
  const { settings, credentials, clock, random, log } = options;
  await using started = new AsyncDisposableStack();
  const certificates = await servingCertificates(options);
  const tokenFile = settings['token-auth-file'];
  const tokens = tokenFile === undefined ? [] : await readTokenFile(tokenFile);
  const store = await openStorage(options, started, signal);
  const watchCache = createWatchCache({ store, prefix: '/registry/', clock, log });
  const caching = inBackground(started, (until) => watchCache.run(until));
  await unlessAborted(signal, watchCache.synced);

  const server = createApiServer({
    store,
    cache: watchCache.cache,
    definitions: registry,
    authenticate: unionAuthenticator([
      clientCertificateAuthenticator,
      bearerTokenAuthenticator(
        () => tokens,
        () => clock.now(),
      ),
    ]),
    clock,
    random,
    log,
    serviceCIDR: settings['service-cidr'],
    nodePorts: settings['node-ports'],
    version: version(),
    advertiseAddress: `${options.advertiseAddress}:${settings.port}`,
    nodeConnection: createNodeConnection({
      cache: watchCache.cache,
      authority: credentials.authority.certificate,
      client: certificates.kubeletClient,
      ...(options.agentAddress && { agentAddress: options.agentAddress }),
    }),
  });
  const clientOf = (component: string) =>
    createClient(inProcessTransport(server.handlerFor(systemUser(component))), { clock });
  await bootstrapObjects(server, { address: options.advertiseAddress, port: settings.port });
  signal.throwIfAborted();
  const serving = new AbortController();
  const listener = await listenHttps({
    app: server.app,
    address: settings['bind-address'],
    port: settings.port,
    tls: {
      key: certificates.serving.key,
      cert: certificates.serving.certificate,
      clientCA: credentials.authority.certificate,
    },
    signal: serving.signal,
    log,
  });
  started.defer(() => {
    serving.abort();
    return listener.closed;
  });
  const running = started.move();
  const managing = runControllers(options, clientOf, signal);
  const stopped = (async () => {
    try {
      await Promise.race([aborted(signal), caching, managing]);
      await managing;
    } finally {
      await running.disposeAsync();
    }
  })();
  return { stopped };
}

/** Runs a part until the stack is unwound. The promise is the part's own, for whoever must know that it ended. */
function inBackground(
  stack: AsyncDisposableStack,
  run: (until: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const running = run(stop.signal);
  running.catch(() => undefined);
  stack.defer(async () => {
    stop.abort();
    await running;
  });
  return running;
}

/** The store, which answers; what it needs is closed with the stack. */
async function openStorage(
  options: ControlPlaneOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Store> {
  const { settings, log, clock } = options;
  if (settings['etcd-endpoints'] === undefined) {
    const { endpoints, keepaliveMs } = await startEtcd(options, stack, signal);
    return connect({ endpoints, keepaliveMs, log, clock }, stack, signal);
  }
  const endpoints = settings['etcd-endpoints'];
  const tls = await etcdTls(settings);
  const store = await connect({ endpoints, ...(tls && { tls }), log, clock }, stack, signal).catch(
    (error) => {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // gRPC says everything twice; the last failure is what helps.
      const [, why = error.message] =
        /Last error: (?:Error: )?(.+?)\. Resolution note/.exec(error.message) ?? [];
      const advice = `start it, or correct --etcd-endpoints${tls ? ', --etcd-ca, --etcd-cert and --etcd-key' : ''}`;
      throw new Error(`no etcd answers at ${endpoints.join(', ')} (${why}); ${advice}`);
    },
  );
  void inBackground(stack, (until) => runCompactor({ store, clock, log }, until));
  return store;
}

/** An etcd of this process, which forgets old history by itself. */
async function startEtcd(
  { settings, log, clock }: ControlPlaneOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<EmbeddedEtcd> {
  const dataDir = join(settings['data-dir'], 'etcd');
  const binary = join(settings['data-dir'], 'bin/etcd');
  await extractAsset('etcd', binary, 0o755);
  signal.throwIfAborted();
  // Not the signal that stops everything: etcd ends after whoever writes to it.
  const etcd = await startEmbeddedEtcd({ binary, dataDir, log, clock, signal: new AbortController().signal });
  stack.defer(() => etcd.stop());
  return etcd;
}

async function connect(
  options: EtcdOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Store> {
  const connecting = connectEtcd(options);
  try {
    const store = await unlessAborted(signal, connecting);
    stack.defer(() => store.close());
    return store;
  } catch (error) {
    // It may still answer after nobody waits for it.
    connecting.then(
      (store) => store.close(),
      () => undefined,
    );
    throw error;
  }
}

type EtcdFiles = Settings<'etcd-endpoints' | 'etcd-ca' | 'etcd-cert' | 'etcd-key'>;

async function etcdTls(settings: EtcdFiles): Promise<EtcdOptions['tls']> {
  const { 'etcd-ca': ca, 'etcd-cert': cert, 'etcd-key': key } = settings;
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-cert and --etcd-key belong together: give both or neither');
  }
  if (ca === undefined && cert !== undefined) {
    throw new UsageError('--etcd-cert needs --etcd-ca, the authority that signed the certificates of etcd');
  }
  for (const name of ['etcd-ca', 'etcd-cert', 'etcd-key'] as const) {
    const path = settings[name];
    if (path === undefined) continue;
    await access(path, constants.R_OK).catch((error) => {
      throw new UsageError(
        `--${name}: "${path}" can not be read (${error.code}); give the path of a PEM file`,
      );
    });
  }
  return ca === undefined ? undefined : { ca, ...(cert && key && { cert, key }) };
}

async function servingCertificates({ credentials, settings, advertiseAddress }: ControlPlaneOptions) {
  const firstServiceIP = settings['service-cidr'].replace(/(\d+)\/.*$/, (_, last) =>
    String(Number(last) + 1),
  );
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const hosts = new Set([...names, 'localhost', hostname(), '127.0.0.1', firstServiceIP, advertiseAddress]);
  if (settings['bind-address'] !== '0.0.0.0') hosts.add(settings['bind-address']);
  const [serving, kubeletClient] = await Promise.all([
    credentials.leaf({
      file: 'apiserver',
      commonName: 'kube-apiserver',
      hosts: [...hosts],
      usages: ['server'],
    }),
    credentials.leaf({
      file: 'apiserver-kubelet-client',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
      usages: ['client'],
    }),
  ]);
  return { serving, kubeletClient };
}

async function runControllers(
  { settings, clock, random, log }: ControlPlaneOptions,
  clientOf: (component: string) => Client,
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf('kube-controller-manager');
  const recorderOf = (component: string) => createEventRecorder({ client, clock, random, log, component });
  const [events, schedulerEvents] = [recorderOf('controller-manager'), recorderOf('default-scheduler')];
  const informers = createInformerFactory({ client, clock, random, log });
  const manager = createManager({
    client,
    informers,
    events,
    clock,
    random,
    log,
    // An embedded etcd has one master; masters that share one must agree who leads.
    ...(settings['etcd-endpoints'] && {
      leaderElection: {
        namespace: 'kube-system',
        name: 'minik8s-controllers',
        identity: `${hostname()}_${random.uuid()}`,
      },
    }),
  });
  for (const factory of controllers({ clusterCidr: settings['cluster-cidr'] })) manager.add(factory);
  const schedule = scheduler({ policy: settings['scheduler-policy'] });
  manager.add((context) => schedule({ ...context, events: schedulerEvents }));
  try {
    await manager.run(signal);
  } finally {
    await Promise.all([events.stop(), schedulerEvents.stop()]);
  }
}
