/** The node's part of a process: the agent, the pod network and the service proxy. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readAsset } from '../base/assets.ts';
import { systemExec } from '../base/exec.ts';
import { version } from '../base/version.ts';
import { createHttpsTransport } from '../client/https-transport.ts';
import { createClient } from '../client/rest-client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import { createEventRecorder } from '../controller-runtime/event-recorder.ts';
import { createKubelet } from '../kubelet/kubelet.ts';
import { readNodeFacts } from '../kubelet/node-facts.ts';
import { DockerRuntime } from '../kubelet/runtime/docker.ts';
import { RoutedPodNetwork } from '../network/pod-network.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import { createProxier } from '../proxy/proxier.ts';
import { requireFreeHostPort } from './preflight.ts';
import type { ProcessContext } from './process-context.ts';
import type { Settings } from './settings.ts';

export const workerSettings = [
  'data-dir',
  'service-cidr',
  'cluster-cidr',
  'node-name',
  'node-ip',
  'kubelet-port',
  'docker-socket',
  'max-pods',
  'sandbox-pool',
  'log-level',
] as const;

export interface WorkerOptions extends ProcessContext {
  readonly settings: Settings<(typeof workerSettings)[number]>;
  /** Such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM of the cluster's authority. */
  readonly authority: string;
  /** Client and server certificate of this node. */
  readonly identity: KeyAndCertificate;
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Where the agent's own server listens. */
  readonly listenAddress: string;
  /** Called when the API server has been told that pods can run here, the first time and perhaps again. */
  readonly onReady?: () => void;
}

/** Written on every container made here, so that two clusters on one Docker engine keep out of each other's way. */
export const ownerOf = (dataDir: string) => `minik8s:${dataDir}`;

/** Works until the signal aborts; rejects when the node can not work here. */
export async function runWorker(options: WorkerOptions, signal: AbortSignal): Promise<void> {
  const { settings, clock, random, log, nodeName, nodeIP, identity, authority } = options;
  const dataDir = join(settings['data-dir'], 'kubelet');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const transport = createHttpsTransport({
    server: options.server,
    ca: authority,
    cert: identity.certificate,
    key: identity.key,
    userAgent: `minik8s-node/${version()}`,
    clock,
  });
  const client = createClient(transport, { clock });
  const events = createEventRecorder({ client, clock, random, log, component: 'kubelet', host: nodeName });
  const informersOf = () => createInformerFactory({ client, clock, random, log });
  const runtime = new DockerRuntime({
    socketPath: settings['docker-socket'],
    owner: ownerOf(settings['data-dir']),
    pauseImage: readAsset('pause.reference').toString('utf8').trim(),
    initPath: join(dataDir, 'pause'),
    clock,
    exec: systemExec,
  });
  const network = new RoutedPodNetwork({
    exec: systemExec,
    log: log.named('network'),
    nodeIP: undefined,
    clusterCIDR: settings['cluster-cidr'],
  });
  const kubelet = createKubelet({
    client,
    informers: informersOf(),
    events,
    runtime,
    network,
    exec: systemExec,
    clock,
    log: log.named('kubelet'),
    nodeName,
    nodeIP,
    dataDir,
    facts: await readNodeFacts(dataDir, `v1.32.0-minik8s.${version()}`),
    readPauseArchive: async () => readAsset('pause.tar'),
    maxPods: settings['max-pods'],
    sandboxPool: settings['sandbox-pool'],
    requireFreePort: requireFreeHostPort,
    ...(options.onReady && { onReady: options.onReady }),
    server: {
      host: options.listenAddress,
      port: settings['kubelet-port'],
      tls: {
        cert: identity.certificate,
        key: identity.key,
        clientCA: authority,
        authorize: ({ groups }) => groups.includes('system:masters'),
      },
    },
  });
  const proxyInformers = informersOf();
  const proxier = createProxier({
    informers: proxyInformers,
    exec: systemExec,
    nodeName,
    serviceCIDR: settings['service-cidr'],
    clock,
    log: log.named('proxy'),
  });
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const proxy = async () => {
    try {
      await proxyInformers.start(ended);
    } catch (error) {
      if (ended.aborted) return;
      throw error;
    }
    await proxier.run(ended);
  };
  const parts = [kubelet.run(ended), proxy()];
  try {
    await Promise.all(parts);
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
    await proxyInformers.stopped();
    await events.stop();
    transport.close();
  }
}
