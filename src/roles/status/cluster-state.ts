/** Asks an API server whether it is ready, and for its nodes and pods. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { answerWithin } from '../../base/answer-within.ts';
import { errorMessage } from '../../base/log.ts';
import { type Cluster, connect } from '../../cli/connection/cluster.ts';
import { connectionFlags, Flags } from '../../cli/flags/flags.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects/objects.ts';
import type { CtlIo } from '../../cli/verb.ts';
import type { Known, NodeCounts, PodCounts, RunningFacts } from './facts.ts';

export type ClusterState = Pick<RunningFacts, 'server' | 'api' | 'nodes' | 'pods' | 'kubeconfig'>;

/** Timeout of each question in milliseconds. */
const questionMs = 5_000;

/** Number of pods in one request. */
const pageSize = 500;

/**
 * Resolves to what the server of the connection flags answers within the timeouts; never rejects. `ownNode`
 * is the only node that is asked for; default: all nodes.
 */
export async function readClusterState(
  io: CtlIo,
  words: readonly string[],
  ownNode?: string,
): Promise<ClusterState> {
  let cluster: Cluster | undefined;
  try {
    const opened = connect({ ...io, err() {} }, new Flags(connectionFlags, [...words]));
    cluster = opened;
    const server = opened.server;
    const api = await within(io, async () => {
      await requireReady(opened);
      return 'ready' as const;
    });
    if ('problem' in api && api.isSilent) return { ...(server && { server }), api: { problem: api.problem } };
    const [nodes, pods] = await Promise.all([
      within(io, () => nodesOf(opened, ownNode)),
      within(io, () => podsOf(io, opened, ownNode)),
    ]);
    return { ...(server && { server }), api, nodes, pods };
  } catch (error) {
    return { api: { problem: errorMessage(error) } };
  } finally {
    cluster?.close();
  }
}

type Answer<T> = Known<T> & { readonly isSilent?: true };

/** Never rejects. `isSilent` is true if the server does not answer at all, so that nothing else is asked. */
async function within<T extends object | string>(io: CtlIo, ask: () => Promise<T>): Promise<Answer<T>> {
  try {
    const value = await answerWithin(io.clock, questionMs, ask());
    if (value !== undefined) return { value };
    return { problem: `no answer within ${questionMs / 1000} s`, isSilent: true };
  } catch (error) {
    const problem = errorMessage(error);
    return /cannot reach|no route|refused/.test(problem) ? { problem, isSilent: true } : { problem };
  }
}

/** Rejects with the failed checks of a server that is not ready. */
async function requireReady(cluster: Cluster): Promise<void> {
  try {
    const { body } = await cluster.open({
      method: 'GET',
      path: '/readyz?verbose',
      headers: { accept: '*/*' },
    });
    await Array.fromAsync(body);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const failed = text.match(/\[-\][^[\n]*/g);
    if (failed === null) throw error;
    throw new Error(failed.map((line) => line.replace('[-]', '').trim()).join('; '));
  }
}

async function nodesOf(cluster: Cluster, only: string | undefined): Promise<NodeCounts> {
  const nodes =
    only === undefined
      ? recordsAt(await cluster.get('/api/v1/nodes'), 'items')
      : [await cluster.get(`/api/v1/nodes/${encodeURIComponent(only)}`)];
  const notReady = nodes.flatMap((node) => {
    const ready = recordsAt(node, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready');
    if (ready && textAt(ready, 'status') === 'True') return [];
    const why = ready ? textAt(ready, 'message') : 'it has reported nothing yet';
    return [`${metadataOf(node).name} is not Ready: ${why}`];
  });
  return { ready: nodes.length - notReady.length, total: nodes.length, notReady };
}

async function podsOf(io: CtlIo, cluster: Cluster, node: string | undefined): Promise<PodCounts> {
  const until = io.clock.monotonic() + questionMs - 1_000;
  const selector = node === undefined ? '' : `&fieldSelector=spec.nodeName%3D${encodeURIComponent(node)}`;
  let [running, total, next] = [0, 0, ''];
  do {
    const from = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
    const page = await cluster.get(`/api/v1/pods?limit=${pageSize}${selector}${from}`);
    const items = recordsAt(page, 'items');
    total += items.length;
    running += items.filter(isRunning).length;
    next = textAt(page, 'metadata', 'continue');
  } while (next !== '' && io.clock.monotonic() < until);
  return { running, total, isPartial: next !== '' };
}

const isRunning = (pod: JsonObject) => textAt(pod, 'status', 'phase') === 'Running';
