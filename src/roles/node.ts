/** `minik8s node`: a machine that joins a cluster and runs its pods. */
import { hostname } from 'node:os';
import { defineCommand } from 'citty';
import { checkDns1123Subdomain } from '../apimachinery/names.ts';
import { isAbort, stopSignal } from '../base/abort.ts';
import { liesIn } from '../base/address-families.ts';
import { type Logger, silentLogger } from '../base/log.ts';
import { UsageError } from '../base/usage-error.ts';
import { systemExec } from '../os/exec.ts';
import { openDataDirectory } from './data-directory.ts';
import { requireOwnData } from './data-owner.ts';
import { addressTowards } from './host-address.ts';
import { nodeIPv6Of } from './ipv6-address.ts';
import {
  clusterRanges,
  requireDocker,
  requireFreePort,
  requireFreeRanges,
  requireKernelNetwork,
  requireOwnAddress,
  requirePrograms,
  requireReserved,
  requireRoot,
} from './preflight.ts';
import { nodeContext } from './process-context.ts';
import { beginRun, loggedEnd, logRunProblem } from './running/begin-run.ts';
import { serviceManagerOf } from './service-notices.ts';
import { type NodeSettings, nodeConfigFile, nodeRows, readNodeConfig } from './settings/node-config.ts';
import { configPath, settingArgs } from './settings/settings.ts';
import { openTracing } from './tracing.ts';
import { runMember } from './worker/node-member.ts';
import { claimNode } from './worker/one-node.ts';

export const command = defineCommand({
  meta: {
    description: 'join a cluster and run its pods; the token is read from the file or from MINIK8S_TOKEN',
  },
  ...{
    examples: [
      'node --config ./node.yaml # join with the lines that minik8s token create prints',
      'node --server https://10.0.0.5:6443 --ca-cert-hash sha256:HEX # read the token from $MINIK8S_TOKEN',
    ],
  },
  args: settingArgs(nodeRows, nodeConfigFile),
  async run({ args }) {
    const warn = (message: string) => process.stderr.write(`warning: ${message}\n`);
    const settings = readNodeConfig({ flags: args, environment: process.env, warn });
    await node(settings, args, warn, stopSignal());
  },
});

/** Runs until the signal aborts; rejects when the machine cannot join or cannot work as a node. */
async function node(
  settings: NodeSettings,
  flags: Readonly<Record<string, unknown>>,
  warn: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const [server] = settings.server ?? [];
  if (settings.server === undefined || server === undefined) {
    throw new UsageError(
      `no server is given: run minik8s token create on a master and put its output into ${nodeConfigFile} (or --config FILE)`,
    );
  }
  const nodeName = nodeNameOf(settings);
  const nodeIP = settings['node-ip'] ?? (await addressTowards(new URL(server).hostname));
  requireRangeInCluster(settings);
  requireRoot();
  requireOwnAddress(nodeIP);
  await requireDocker(settings['docker-socket']);
  await requireKernelNetwork(systemExec, settings.overlay);
  await requirePrograms(systemExec);
  await requireFreeRanges(systemExec, clusterRanges(settings));
  const directory = await openDataDirectory(settings['data-dir']);
  let release: (() => Promise<void>) | undefined;
  let log: Logger = silentLogger;
  try {
    requireOwnData(directory.path, 'node');
    const recordProblem = await beginRun({
      ...{ role: 'node', settings, nodeName, servers: settings.server },
      configFile: configPath({ flags, environment: process.env, configFile: nodeConfigFile }).path,
    });
    release = await claimNode();
    await requireReserved(directory.path, settings['max-pods'], settings['system-reserved']);
    await requireFreePort(nodeIP, settings['kubelet-port'], 'kubelet-port');
    await using tracing = new AsyncDisposableStack();
    const base = nodeContext(settings);
    log = base.log;
    logRunProblem(log, recordProblem);
    base.loopMeter.watch(signal);
    const serviceManager = serviceManagerOf(base.log, signal);
    const context = { ...base, ...(await openTracing(settings, base, tracing)) };
    const options = {
      ...context,
      settings,
      servers: settings.server,
      nodeName,
      nodeIP,
      nodeIPv6: await nodeIPv6Of(settings, { ...context, nodeIP }),
      warn,
      serviceManager,
    };
    await runMember(options, signal);
  } catch (error) {
    // A stop request before the node was ready is not a failure.
    if (!signal.aborted || !isAbort(error)) throw loggedEnd(log, settings, error);
  } finally {
    await release?.();
    await directory.release();
  }
}

/** Throws UsageError for a name that a Node cannot have. */
function nodeNameOf(settings: NodeSettings): string {
  const nodeName = settings['node-name'] ?? hostname().toLowerCase();
  const [badName] = checkDns1123Subdomain(nodeName);
  if (badName) throw new UsageError(`node-name "${nodeName}": ${badName}`);
  return nodeName;
}

/** Throws UsageError if the node's range of pod addresses is not within the cluster's. */
function requireRangeInCluster(settings: NodeSettings): void {
  const podCIDR = settings['pod-cidr'];
  const cluster = settings['cluster-cidr'].split(',');
  const isInside = (range: string) => cluster.some((around) => liesIn(around, range));
  if (podCIDR !== undefined && !podCIDR.split(',').every(isInside)) {
    throw new UsageError(`pod-cidr ${podCIDR} does not lie in cluster-cidr ${settings['cluster-cidr']}`);
  }
}
