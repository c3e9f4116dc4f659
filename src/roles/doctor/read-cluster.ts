/** Asks the API server for its nodes, and the nodes for their findings. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { answerWithin } from '../../base/answer-within.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../../cli/connection/cluster.ts';
import { metadataOf, recordsAt, textAt } from '../../cli/objects/objects.ts';
import type { ClusterFacts, ClusterNodeFacts } from '../../doctor/checks/cluster.ts';
import { parseNodeAnswer } from '../../doctor/node-answer.ts';

/** Timeout of the API server's own answers. */
const serverTimeoutMs = 10_000;
/** Timeout of an agent's answer. An agent takes longest if it cannot reach many of the other nodes. */
const answerTimeoutMs = 60_000;
/** Number of agents that are asked at a time. */
const agentsAtOnce = 8;
/** Maximum size of an answer in bytes. */
const maxAnswerBytes = 4 * 2 ** 20;

/** Rejects if the API server does not answer. `names` are the wanted nodes; all nodes if there are none. */
export async function readCluster(
  cluster: Cluster,
  names: readonly string[],
  clock: Clock,
): Promise<ClusterFacts> {
  const first = Promise.all([serverAhead(cluster, clock), cluster.get('/api/v1/nodes')]);
  const answer = await answerWithin(clock, serverTimeoutMs, first);
  if (!answer) throw new Error(`the API server gives no answer within ${serverTimeoutMs / 1000} s`);
  const [aheadMs, list] = answer;
  const items = recordsAt(list, 'items');
  const known = items.map((node) => metadataOf(node).name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UsageError(
      `--node: there is no node ${unknown.join(', ')}; minik8s ctl get nodes shows all nodes`,
    );
  const wanted = items.filter((node) => names.length === 0 || names.includes(metadataOf(node).name));
  const nodes: ClusterNodeFacts[] = [];
  const left = wanted.entries();
  const askSome = async () => {
    for (const [index, node] of left) nodes[index] = await factsOf(cluster, node, clock);
  };
  await Promise.all(Array.from({ length: agentsAtOnce }, askSome));
  return { ...(aheadMs !== undefined && { aheadMs }), nodes };
}

/** Resolves to how far the server's clock is ahead in milliseconds; its header has whole seconds. */
async function serverAhead(cluster: Cluster, clock: Clock): Promise<number | undefined> {
  const from = clock.now();
  const answer = await cluster.open({ method: 'GET', path: '/version' });
  const middle = (from + clock.now()) / 2;
  await Array.fromAsync(answer.body);
  const half = 500;
  const date = Date.parse(answer.header('date') ?? '');
  return Number.isNaN(date) ? undefined : date + half - middle;
}

async function factsOf(cluster: Cluster, node: JsonObject, clock: Clock): Promise<ClusterNodeFacts> {
  const { name } = metadataOf(node);
  const ready = recordsAt(node, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready');
  const address = recordsAt(node, 'status', 'addresses').find((one) => textAt(one, 'type') === 'InternalIP');
  const base = {
    name,
    address: address ? textAt(address, 'address') : '',
    isReady: ready !== undefined && textAt(ready, 'status') === 'True',
    message: ready ? textAt(ready, 'message') : 'its agent has reported nothing',
  };
  try {
    const answer = parseNodeAnswer(await pageOf(cluster, name, clock));
    return { ...base, answer, aheadMs: answer.time - clock.now() };
  } catch (error) {
    return { ...base, answer: { problem: errorMessage(error) } };
  }
}

async function pageOf(cluster: Cluster, node: string, clock: Clock): Promise<string> {
  const late = new AbortController();
  const timer = clock.after(answerTimeoutMs, () =>
    late.abort(new Error(`no answer within ${answerTimeoutMs / 1000} s`)),
  );
  try {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/doctor`;
    const { body } = await cluster.open({
      ...{ method: 'GET', path, signal: late.signal },
      headers: { accept: 'application/json' },
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxAnswerBytes) throw new Error('its answer is too large');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    timer.cancel();
  }
}
