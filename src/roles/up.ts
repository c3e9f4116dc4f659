/** `minik8s up`: master and node in one process, on one machine. */
import { hostname } from 'node:os';
import { defineCommand } from 'citty';
import { isAbort, onAbort, stopSignal, unlessAborted } from '../base/abort.ts';
import { allEnded } from '../base/all-ended.ts';
import { systemClock } from '../base/clock.ts';
import { systemExec } from '../os/exec.ts';
import type { LeafRequest } from '../pki/credentials.ts';
import { beginWork, terminalLines } from '../terminal/live-lines.ts';
import { openDataDirectory } from './data-directory.ts';
import { requireOwnData } from './data-owner.ts';
import { hostAddress, isEveryAddress } from './host-address.ts';
import { nodeIPv6Of } from './ipv6-address.ts';
import { laterComponents, startControlPlane } from './master/control-plane.ts';
import {
  clusterRanges,
  requireDisjointRanges,
  requireDocker,
  requireFreePort,
  requireFreeRanges,
  requireKernelNetwork,
  requireOwnAddress,
  requirePrograms,
  requireRoot,
} from './preflight.ts';
import { nodeContext } from './process-context.ts';
import { beginRun, loggedEnd, logRunProblem } from './running/begin-run.ts';
import { serviceManagerOf } from './service-notices.ts';
import { type PartSettings, settingRows } from './settings/setting-table.ts';
import { configPath, readSettings, settingArgs } from './settings/settings.ts';
import { openTracing } from './tracing.ts';
import { nodeTransport } from './worker/node-transport.ts';
import { claimNode } from './worker/one-node.ts';
import { runWorker } from './worker/worker.ts';

export const upRows = settingRows('control plane', 'node');
const configFile = '/etc/minik8s/master.yaml';

type UpSettings = PartSettings<'control plane' | 'node'>;

export const command = defineCommand({
  meta: { description: 'run a whole cluster on this machine' },
  ...{
    examples: [
      'up # run a cluster with the default settings, until Ctrl-C',
      'up --node-name n1 --port 7443 # choose the name of the node and the port of the API server',
      'up --config ./master.yaml # take the settings from a file',
    ],
  },
  args: settingArgs(upRows, configFile),
  async run({ args }) {
    const sources = { flags: args, environment: process.env, configFile };
    const settings = readSettings(upRows, { command: 'minik8s up', ...sources });
    await up(settings, configPath(sources).path, stopSignal());
  },
});

/** Runs until the signal aborts; rejects when a part cannot start or fails later. */
async function up(settings: UpSettings, file: string, signal: AbortSignal): Promise<void> {
  requireRoot();
  const ranges = clusterRanges(settings);
  requireDisjointRanges(ranges);
  await allEnded([
    requireDocker(settings['docker-socket']),
    requirePrograms(systemExec),
    requireKernelNetwork(systemExec, settings.overlay),
    requireFreeRanges(systemExec, ranges),
  ]);
  const directory = await openDataDirectory(settings['data-dir']);
  let release: (() => Promise<void>) | undefined;
  try {
    requireOwnData(directory.path, 'up');
    const nodeName = settings['node-name'] ?? hostname().toLowerCase();
    const recordProblem = await beginRun({ role: 'up', settings, configFile: file, nodeName });
    release = await claimNode();
    await requireFreePort(settings['bind-address'], settings.port, 'port');
    const nodeIP = settings['node-ip'] ?? (await hostAddress());
    requireOwnAddress(nodeIP);
    for (const address of agentAddresses(nodeIP))
      await requireFreePort(address, settings['kubelet-port'], 'kubelet-port');
    await runAll({ settings, configFile: file, recordProblem }, nodeIP, signal);
  } catch (error) {
    // A stop request before both were ready is not a failure.
    if (!signal.aborted || !isAbort(error)) throw error;
  } finally {
    await release?.();
    await directory.release();
  }
}

/**
 * The API server reaches the agent of its own process here, even if this machine's other addresses change.
 */
const loopback = '127.0.0.1';

/** Pods and other machines scrape the agent's metrics at the address in the Node object. */
const agentAddresses = (nodeIP: string): string[] => [...new Set([loopback, nodeIP])];

/** Returns the address that the API server advertises, and the URL under which this machine reaches it. */
function serverAddress(settings: UpSettings, nodeIP: string) {
  const any = isEveryAddress(settings['bind-address']);
  const advertiseAddress = any ? nodeIP : settings['bind-address'];
  return { advertiseAddress, server: `https://${any ? loopback : advertiseAddress}:${settings.port}` };
}

const nodeCertificate = (nodeName: string, nodeIP: string): LeafRequest => ({
  file: 'node',
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
  hosts: [nodeName, nodeIP, loopback],
  usages: ['client', 'server'],
});

interface UpRun {
  readonly settings: UpSettings;
  /** Path of the configuration file. */
  readonly configFile: string;
  readonly recordProblem: string | undefined;
}

async function runAll(
  { settings, configFile, recordProblem }: UpRun,
  nodeIP: string,
  signal: AbortSignal,
): Promise<void> {
  await using tracing = new AsyncDisposableStack();
  const live = terminalLines(systemClock);
  const base = nodeContext(settings, (line) => {
    live?.before(line);
    process.stderr.write(line);
  });
  base.loopMeter.watch(signal);
  logRunProblem(base.log, recordProblem);
  const manager = serviceManagerOf(base.log, signal);
  const context = { ...base, ...(await openTracing(settings, base, tracing)) };
  using work = beginWork(live, 'minik8s up');
  work.say('starting etcd and the API server');
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const nodeName = settings['node-name'] ?? hostname().toLowerCase();
  const { advertiseAddress, server } = serverAddress(settings, nodeIP);
  // The node is stopped first, because it still writes statuses to the API server.
  const planeEnd = new AbortController();
  const endPlane = () => planeEnd.abort(ended.reason);
  const forget = onAbort(ended, endPlane);
  const places = { configFile, server, advertiseAddress };
  const plane = await startControlPlane(
    { ...context, settings, ...places, ownNode: { node: nodeName, address: loopback } },
    planeEnd.signal,
  );
  forget();
  const { authority, certificateManager, kubeconfig } = plane;
  work.say(`making the certificate of node ${nodeName}`);
  const identity = await certificateManager.leaf(nodeCertificate(nodeName, nodeIP));
  work.say(`waiting for Docker, and for node ${nodeName} to be Ready`);
  const ready = Promise.withResolvers<void>();
  const transport = nodeTransport({ ...context, servers: [server], authority, identity });
  const listenAddresses = agentAddresses(nodeIP);
  const credentials = { authority, identity, serving: identity };
  const nodeIPv6 = await nodeIPv6Of(settings, { ...context, nodeIP });
  const worker = runWorker(
    {
      ...context,
      settings,
      transport,
      ...credentials,
      nodeName,
      ...{ nodeIP, nodeIPv6 },
      listenAddresses,
      onReady: ready.resolve,
    },
    ended,
  );
  const nodeEnd = () => {
    transport.close();
    endPlane();
  };
  const parts = [plane.stopped, worker.finally(nodeEnd)];
  const announce = async () => {
    await unlessAborted(ended, ready.promise);
    work[Symbol.dispose]();
    process.stdout.write(`minik8s is ready: ${server} (kubeconfig ${kubeconfig})\n`);
    await manager.ready(`cluster at ${server}, node ${nodeName}`);
    context.log.warnOfUnknownComponents(laterComponents(plane));
  };
  try {
    await Promise.all([...parts, announce()]);
  } catch (error) {
    if (!signal.aborted) throw loggedEnd(context.log, settings, error);
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
  }
}
