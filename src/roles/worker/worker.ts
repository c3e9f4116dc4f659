/** The node's part of a process: the agent, the pod network and the service proxy. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceResource } from '../../api/core/v1/service.ts';
import { unlessAborted } from '../../base/abort.ts';
import { readAsset } from '../../base/assets.ts';
import { type Current, replaceable } from '../../base/current.ts';
import { version } from '../../base/version.ts';
import { RequestCounts } from '../../client/request-counts.ts';
import { createClient } from '../../client/rest-client.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import { tracedTransport } from '../../client/traced-transport.ts';
import type { Transport } from '../../client/transport.ts';
import { createEventRecorder } from '../../controller-runtime/event-recorder.ts';
import { dnsServedCondition, dnsServedType } from '../../features/host-names/api/dns-served.ts';
import { createKubelet } from '../../kubelet/kubelet.ts';
import { readNodeFacts } from '../../kubelet/node/node-facts.ts';
import type { ReportedConditions } from '../../kubelet/node/plan/node-conditions.ts';
import { DockerRuntime } from '../../kubelet/runtime/docker.ts';
import type { LogRotation } from '../../kubelet/runtime/log-rotation.ts';
import { runOverlay } from '../../network/overlay/overlay.ts';
import { RoutedPodNetwork } from '../../network/pod-network.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import { createProxier } from '../../proxy/proxier.ts';
import { requireFreeHostPort } from '../preflight.ts';
import { logSettings, type NodeContext } from '../process-context.ts';
import type { TaintValue } from '../settings/node-values.ts';
import type { Settings } from '../settings/settings.ts';
import { tracingSettingNames } from '../settings/tracing-settings.ts';
import { createNodeDns, dnsSettings, podDns } from './node-dns.ts';
import { nodeFeatureSettings, nodeFeatures } from './node-features.ts';
import { agentLife, logRotationOf, nodeLifeSettings, shutdownPeriods, signalAfterPods } from './node-life.ts';
import { createNodeRouting } from './node-routing.ts';
import { ownerOf } from './owner.ts';

export const workerSettings = [
  'service-cidr',
  'cluster-cidr',
  ...dnsSettings,
  'node-name',
  'node-ip',
  'overlay',
  'kubelet-port',
  'max-pods',
  'pod-manifest-path',
  'system-reserved',
  ...nodeLifeSettings,
  ...nodeFeatureSettings,
  'nginx-image',
  'write-etc-hosts',
  'sandbox-pool',
  ...tracingSettingNames,
  ...logSettings,
] as const;

export interface WorkerOptions extends NodeContext {
  readonly settings: Settings<(typeof workerSettings)[number]>;
  /** Transport to the API server, authenticated as this node; the caller closes it. */
  readonly transport: Transport;
  /** PEM of the cluster's authority. */
  readonly authority: string;
  /** Client certificate of the transport; absent if the transport has none. */
  readonly identity?: Current<KeyAndCertificate>;
  /** Certificate of the agent's own server. */
  readonly serving: Current<KeyAndCertificate | undefined>;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Addresses of this machine at which the agent's own server listens. */
  readonly listenAddresses: readonly string[];
  /** Called when the Node's status is ready for pods; may be called more than once. */
  readonly onReady?: () => void;
  /** Called when this node's Node was deleted; if absent, the node registers again. */
  readonly onRemoved?: () => void;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly TaintValue[];
  readonly podCIDR?: string;
}

const pauseImage = () => readAsset('pause.reference').toString('utf8').trim();

export function workerRuntime(
  settings: Settings<'data-dir' | 'docker-socket'>,
  { clock, exec }: Pick<NodeContext, 'clock' | 'exec'>,
  logRotation?: LogRotation,
): DockerRuntime {
  return new DockerRuntime({
    socketPath: settings['docker-socket'],
    owner: ownerOf(settings['data-dir']),
    pauseImage: pauseImage(),
    initPath: join(settings['data-dir'], 'kubelet/pause'),
    clock,
    exec,
    ...(logRotation && { logRotation }),
  });
}

/** Runs until the signal aborts; rejects if the node cannot work on this machine. */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { settings, clock, random, log, loopMeter, tracer, exec, nodeName, nodeIP, serving, authority } =
    options;
  const transport = tracer ? tracedTransport(options.transport, 'writes') : options.transport;
  const periods = shutdownPeriods(settings);
  const dataDir = join(settings['data-dir'], 'kubelet');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const requests = { agent: new RequestCounts(clock), proxy: new RequestCounts(clock) };
  const client = createClient(requests.agent.measure(transport), { clock, random });
  const events = createEventRecorder({ client, clock, random, log, component: 'kubelet', host: nodeName });
  const informersOf = () => createInformerFactory({ client, clock, random, log });
  const runtime = workerRuntime(settings, options, logRotationOf(settings));
  const network = new RoutedPodNetwork({
    exec,
    log: log.named('network'),
    nodeIP: undefined,
    clusterCIDR: settings['cluster-cidr'],
    overlay: { mode: settings.overlay, nodeIP },
  });
  const registered = Promise.withResolvers<void>();
  const conditions = replaceable<ReportedConditions>({});
  const proxyInformers = createInformerFactory({
    client: createClient(requests.proxy.measure(transport), { clock, random }),
    ...{ clock, random, log },
  });
  const kubelet = createKubelet({
    client,
    informers: informersOf(),
    services: proxyInformers.informerFor(serviceResource),
    events,
    runtime,
    network,
    exec,
    clock,
    random,
    log: log.named('kubelet'),
    loopMeter,
    ...(tracer && { tracer }),
    nodeName,
    nodeIP,
    dataDir,
    facts: await readNodeFacts(dataDir, `v1.32.0-minik8s.${version()}`),
    pauseImage: pauseImage(),
    features: nodeFeatures(settings),
    readPauseArchive: async () => readAsset('pause.tar'),
    ...podDns(settings),
    maxPods: settings['max-pods'],
    ...(settings['pod-manifest-path'] !== undefined && { podManifestPath: settings['pod-manifest-path'] }),
    ...agentLife(settings),
    ...(settings['system-reserved'] && { systemReserved: settings['system-reserved'] }),
    sandboxPool: settings['sandbox-pool'],
    requireFreePort: requireFreeHostPort,
    onRegistered: registered.resolve,
    conditions,
    ...(options.onReady && { onReady: options.onReady }),
    ...(options.onRemoved && { onRemoved: options.onRemoved }),
    ...(options.labels && { labels: options.labels }),
    ...(options.taints && { taints: [...options.taints] }),
    ...(options.podCIDR && { podCIDR: options.podCIDR }),
    ...(options.identity && { identity: options.identity }),
    counted: () => [...requests.agent.families(), ...loopMeter.families()],
    pages: {
      proxy: () => [...proxier.families(), ...requests.proxy.families()],
      dns: () => dns.families(),
    },
    server: {
      hosts: options.listenAddresses,
      port: settings['kubelet-port'],
      tls: { identity: serving, clientCA: authority },
    },
  });
  const nodeInformers = informersOf();
  const proxier = createProxier({
    informers: proxyInformers,
    nodeInformers,
    exec,
    nodeName,
    nodeIP,
    serviceCIDR: settings['service-cidr'],
    clusterCIDR: settings['cluster-cidr'],
    clock,
    log: log.named('proxy'),
  });
  const overlay = {
    client,
    informers: nodeInformers,
    exec,
    clock,
    log: log.named('overlay'),
    nodeName,
    nodeIP,
    clusterCIDR: settings['cluster-cidr'],
    mode: settings.overlay,
  };
  const routing = createNodeRouting(options, settings, {
    nodeName,
    nodeIP,
    events,
    informers: proxyInformers,
    onState: (state) => conditions.replace({ [dnsServedType]: dnsServedCondition(state) }),
  });
  const dns = createNodeDns(options, settings, proxyInformers, routing.hostAddresses);
  const stop = new AbortController();
  const going = signalAfterPods({ kubelet, periods, exec, log }, signal);
  const ended = AbortSignal.any([going, stop.signal]);
  /**
   * Objects that all nodes read are watched only after registration: the API server would reject these
   * requests earlier.
   */
  const member = async (work: () => Promise<unknown>) => {
    try {
      await unlessAborted(ended, registered.promise);
      await work();
    } catch (error) {
      if (!ended.aborted) throw error;
    }
  };
  const proxy = async () => {
    await proxyInformers.start(ended);
    await Promise.all([proxier.run(ended), routing.run(ended)]);
  };
  const parts = [kubelet.run(ended), member(proxy), member(() => runOverlay(overlay, ended)), dns.run(ended)];
  try {
    await Promise.all(parts);
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
    await proxyInformers.stopped();
    await events.stop();
  }
}
