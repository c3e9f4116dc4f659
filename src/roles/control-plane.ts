/**
 * The control plane of one process: etcd (embedded or given), the API server, and the controllers and scheduler
 * that call it in the same process. Started bottom-up and stopped top-down: whoever writes ends before what it
 * writes to.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { registry } from '../api/registry.ts';
import { createApiServer } from '../apiserver/app.ts';
import { unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { clientCertificateAuthenticator } from '../apiserver/authentication/client-certificate.ts';
import { bootstrapObjects } from '../apiserver/bootstrap.ts';
import { listenHttps } from '../apiserver/serve.ts';
import { systemUser } from '../apiserver/user.ts';
import { aborted } from '../base/abort.ts';
import { extractAsset } from '../base/assets.ts';
import { version } from '../base/version.ts';
import type { Client } from '../client/client.ts';
import { inProcessTransport } from '../client/in-process-transport.ts';
import { createClient } from '../client/rest-client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import { createEventRecorder } from '../controller-runtime/event-recorder.ts';
import { createManager } from '../controller-runtime/manager.ts';
import { controllers } from '../controllers/index.ts';
import { nodeIpam } from '../controllers/node-ipam.ts';
import type { Credentials } from '../pki/credentials.ts';
import { scheduler } from '../scheduler/scheduler.ts';
import { startEmbeddedEtcd } from '../storage/embedded-etcd.ts';
import { connectEtcd } from '../storage/etcd.ts';
import type { Store } from '../storage/store.ts';
import { createWatchCache } from '../storage/watch-cache.ts';
import { createNodeConnection } from './node-connection.ts';
import type { ProcessContext } from './process-context.ts';
import type { Settings } from './settings.ts';

export const controlPlaneSettings = [
  'data-dir',
  'bind-address',
  'port',
  'etcd-endpoints',
  'etcd-ca',
  'etcd-cert',
  'etcd-key',
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
  /** Calls the API server in this process, as an administrator. */
  readonly client: Client;
  /** Resolves when everything has ended, in order; rejects when a part can not go on. */
  readonly stopped: Promise<void>;
}

/** Resolves when the API server answers; ends when the signal aborts. */
export async function startControlPlane(
  options: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<ControlPlane> {
  const { settings, credentials, clock, random, log } = options;
  const serving = new AbortController();
  const storing = new AbortController();
  const [storage, certificates] = await Promise.all([
    openStorage(options, storing.signal),
    servingCertificates(options),
  ]);
  const watchCache = createWatchCache({ store: storage.store, prefix: '/registry/', clock, log });
  const caching = watchCache.run(storing.signal);
  await watchCache.synced;

  const server = createApiServer({
    store: storage.store,
    cache: watchCache.cache,
    definitions: registry,
    authenticate: unionAuthenticator([clientCertificateAuthenticator]),
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
  const managing = runControllers(options, clientOf, signal);

  const stopped = (async () => {
    try {
      await Promise.race([aborted(signal), caching]);
      await managing;
    } finally {
      serving.abort();
      await listener.closed;
      storing.abort();
      await caching;
      await storage.close();
    }
  })();
  return { client: clientOf('admin'), stopped };
}

interface Storage {
  readonly store: Store;
  close(): Promise<void>;
}

async function openStorage(
  { settings, clock, log }: ControlPlaneOptions,
  signal: AbortSignal,
): Promise<Storage> {
  const endpoints = settings['etcd-endpoints'];
  if (endpoints) {
    const ca = settings['etcd-ca'];
    const tls = ca ? { ca, cert: settings['etcd-cert'], key: settings['etcd-key'] } : undefined;
    const store = await connectEtcd({ endpoints, ...(tls && { tls }), log, clock });
    return { store, close: () => store.close() };
  }
  const dataDir = join(settings['data-dir'], 'etcd');
  const binary = join(settings['data-dir'], 'bin/etcd');
  await extractAsset('etcd', binary, 0o755);
  const etcd = await startEmbeddedEtcd({ binary, dataDir, log, clock, signal: new AbortController().signal });
  try {
    const { endpoints, keepaliveMs } = etcd;
    const store = await connectEtcd({ endpoints, keepaliveMs, log, clock });
    return {
      store,
      async close() {
        await store.close();
        await etcd.stop();
      },
    };
  } catch (error) {
    await etcd.stop();
    throw error;
  } finally {
    signal.throwIfAborted();
  }
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
  const events = createEventRecorder({ client, clock, random, log, component: 'minik8s', host: hostname() });
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
  for (const factory of controllers) manager.add(factory);
  manager.add(nodeIpam({ clusterCidr: settings['cluster-cidr'] }));
  manager.add(scheduler({ policy: settings['scheduler-policy'] }));
  try {
    await manager.run(signal);
  } finally {
    await events.stop();
  }
}
