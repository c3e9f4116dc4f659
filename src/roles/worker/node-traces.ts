/** Everything that a node creates on its machine outside its data directory, and its removal. */
import { join } from 'node:path';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { podRangesOf } from '../../api/core/v1/node/pod-ranges.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { answerWithin } from '../../base/answer-within.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { retry } from '../../base/keep-doing.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { removeDnsLink } from '../../cluster-dns/dns-link.ts';
import { BuildEngine } from '../../features/functions/agent/build-engine.ts';
import { removeHostNames } from '../../features/host-names/agent/node-routing.ts';
import { readCheckpoint } from '../../kubelet/node/checkpoint.ts';
import { stopContainers } from '../../kubelet/node/cleanup.ts';
import type { ContainerRuntime } from '../../kubelet/runtime/runtime.ts';
import { unmountUnder } from '../../kubelet/volumes/mounts.ts';
import { cleanupNetwork } from '../../network/pod-network.ts';
import { removePolicyRules } from '../../network/policies/enforcer.ts';
import type { Exec } from '../../os/exec.ts';
import { removeTree } from '../../os/remove-tree.ts';
import { removeAnnouncements } from '../../service-proxy/announcing/kernel.ts';
import { removeServiceRules } from '../../service-proxy/proxier.ts';
import type { ProcessContext } from '../process-context.ts';
import { removeWebServer } from './node-web-server.ts';
import { ownerOf } from './owner.ts';

export interface NodeTraces {
  readonly runtime: ContainerRuntime;
  readonly exec: Exec;
  readonly dataDir: string;
  readonly dockerSocket: string;
  /** True if the node agent's files stay: the volumes of pods, and the agent's stored state. */
  readonly keepsFiles?: boolean;
}

/**
 * Removes containers, rules, links and the node agent's files. Resolves to the number of containers that were
 * removed. Rejects if something could not be removed, or with the signal's reason if it aborts while files
 * are removed.
 */
export async function removeNodeTraces(
  { runtime, exec, dataDir, dockerSocket, keepsFiles }: NodeTraces,
  signal?: AbortSignal,
): Promise<number> {
  const all = await runtime.list();
  // Containers are removed before the sandboxes whose namespaces they use.
  for (const kind of ['container', 'sandbox'] as const) {
    const ids = all.filter((object) => object.kind === kind).map(({ id }) => id);
    await Promise.all(ids.map((id) => runtime.remove(id)));
  }
  await new BuildEngine({ socketPath: dockerSocket, owner: ownerOf(dataDir) }).removeAll();
  await removeWebServer(dataDir, dockerSocket);
  await removeHostNames(dataDir);
  await removeServiceRules(exec);
  await removeAnnouncements(exec);
  await removePolicyRules(exec);
  await removeDnsLink(exec);
  await cleanupNetwork(exec);
  // Volumes in memory and bind mounts of other volumes must be unmounted first: removing the directory would
  // empty them.
  await unmountUnder(join(dataDir, 'kubelet'), exec);
  if (!keepsFiles) await removeTree(join(dataDir, 'kubelet'), exec, signal);
  return all.length;
}

/** Timeout in milliseconds of the question to the API server, at the start, whether the Node still exists. */
const patienceMs = 5_000;

/**
 * Returns true if the Node was deleted, or created again with another pod range, while this machine was away.
 * The addresses of everything left on the machine may then belong to another node. Returns false while no API
 * server answers.
 */
export async function areOutdated(former: {
  readonly client: Client;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly dataDir: string;
}): Promise<boolean> {
  const { client, clock, nodeName, dataDir } = former;
  const checkpoint = await readCheckpoint(join(dataDir, 'kubelet/checkpoint.json'));
  if (checkpoint?.podCIDR === undefined) return false;
  const known = client
    .resource(nodeResource)
    .get(nodeName)
    .then(
      // An earlier version has kept only the first range.
      (node) => [podRangesOf(node), node.spec?.podCIDR].includes(checkpoint.podCIDR),
      (error) => !isNotFound(error),
    );
  return (await answerWithin(clock, patienceMs, known)) === false;
}

/** Stops the pods gracefully, then removes everything; retries while the Docker engine does not answer. */
export async function endNode(
  traces: NodeTraces,
  { clock, random, log }: ProcessContext,
  signal: AbortSignal,
): Promise<void> {
  await stopContainers(traces.runtime, clock).catch((error) =>
    log.warn('pods could not be stopped gracefully; their containers are removed', {
      error: errorMessage(error),
    }),
  );
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  const onError = (error: unknown, ms: number) => {
    const retryMs = Math.round(ms);
    log.warn('what this node created cannot be removed yet', { error: errorMessage(error), retryMs });
  };
  await retry({ clock, signal, backoff, onError }, () => removeNodeTraces(traces, signal));
}
