/** What a node creates on its machine outside its data directory, and how that is removed. */
import { join } from 'node:path';
import { nodeResource } from '../../api/core/v1/node.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { Backoff } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Exec } from '../../base/exec.ts';
import { errorMessage } from '../../base/log.ts';
import { removeTree } from '../../base/remove-tree.ts';
import type { Client } from '../../client/client.ts';
import { removeDnsLink } from '../../dns/dns-link.ts';
import { BuildEngine } from '../../kubelet/functions/build-engine.ts';
import { readCheckpoint } from '../../kubelet/node/checkpoint.ts';
import { stopContainers } from '../../kubelet/node/cleanup.ts';
import type { ContainerRuntime } from '../../kubelet/runtime/runtime.ts';
import { unmountUnder } from '../../kubelet/volumes/mounts.ts';
import { cleanupNetwork } from '../../network/pod-network.ts';
import { removeServiceRules } from '../../proxy/proxier.ts';
import type { ProcessContext } from '../process-context.ts';
import { answerWithin } from './answer-within.ts';
import { removeNodeRouting } from './node-routing.ts';
import { ownerOf } from './owner.ts';

export interface NodeTraces {
  readonly runtime: ContainerRuntime;
  readonly exec: Exec;
  readonly dataDir: string;
  readonly dockerSocket: string;
}

/**
 * Removes containers, rules, links and what the node agent has on disk. Returns how many containers there were; rejects
 * when something stays, or with the signal's reason when that aborts while files are removed.
 */
export async function removeNodeTraces(
  { runtime, exec, dataDir, dockerSocket }: NodeTraces,
  signal?: AbortSignal,
): Promise<number> {
  const all = await runtime.list();
  // The pods' containers before their sandboxes, whose namespaces they use.
  for (const kind of ['container', 'sandbox'] as const) {
    const ids = all.filter((object) => object.kind === kind).map(({ id }) => id);
    await Promise.all(ids.map((id) => runtime.remove(id)));
  }
  await new BuildEngine({ socketPath: dockerSocket, owner: ownerOf(dataDir) }).removeAll();
  await removeNodeRouting(dataDir, dockerSocket);
  await removeServiceRules(exec);
  await removeDnsLink(exec);
  await cleanupNetwork(exec);
  // Volumes in memory and parts of others' volumes: removing the directory would empty them.
  await unmountUnder(join(dataDir, 'kubelet'), exec);
  await removeTree(join(dataDir, 'kubelet'), exec, signal);
  return all.length;
}

/** How long a start waits for an API server to say whether the node is still known. */
const patienceMs = 5_000;

/**
 * Whether the Node was deleted while this machine was away: what is here of the time before has addresses that may be
 * another node's by now. While no API server answers nothing is outdated.
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
      ({ spec }) => spec?.podCIDR === checkpoint.podCIDR,
      (error) => !isNotFound(error),
    );
  return (await answerWithin(clock, patienceMs, known)) === false;
}

/** Stops the pods gracefully, then removes everything, retrying while the Docker engine does not answer. */
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
  while (!signal.aborted) {
    try {
      await removeNodeTraces(traces, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      const retryMs = Math.round(backoff.next());
      log.warn('what this node created cannot be removed yet', { error: errorMessage(error), retryMs });
      await sleep(clock, retryMs, signal).catch(() => undefined);
    }
  }
}
