/** Explains why a pod is unschedulable, as a message similar to upstream's and as JSON for programs. Pure. */
import { formatQuantity } from '../apimachinery/quantity.ts';
import type { NodeRejections, Rejection, Remedy } from './framework.ts';
import type { Unschedulable } from './schedule-one.ts';

/** Explanation of a waiting pod: a message for users, and a report for programs. */
export interface Explanation {
  readonly message: string;
  readonly report: string;
}

export function explainDecision(decision: Unschedulable, nodes: number): Explanation {
  const { refused, remedy } = decision;
  if (refused) {
    const message = `0/${nodes} nodes are available: ${refused.text}.`;
    return { message, report: report([], nodes, refused) };
  }
  return { message: `${explain(decision.nodes)}${remedyText(remedy)}`, report: report(decision.nodes) };
}

function remedyText(remedy: Remedy | undefined): string {
  if (!remedy) return '';
  if (remedy.kind !== 'preempt') return ` Preemption: ${remedy.why}.`;
  const { victims, node } = remedy;
  return ` Preemption: ${victims.length} pod(s) of a lower priority leave ${node}.`;
}

/**
 * Returns the message: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {k: v}.
 * Nearest fit: …`. As upstream, a node is counted under the first plugin that rejects it.
 */
export function explain(nodes: readonly NodeRejections[]): string {
  const nearest = nearestFit(nodes);
  if (!nearest) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const { rejections } of nodes)
    for (const { plugin, text } of rejections)
      if (plugin === rejections[0]?.plugin) counts.set(text, (counts.get(text) ?? 0) + 1);
  const reasons = [...counts].map(([text, count]) => `${count} ${text}`).sort();
  return `0/${nodes.length} nodes are available: ${reasons.join(', ')}.${nearestText(nearest)}`;
}

/** Returns the text only if all rejections are shortages; other reasons are in the message already. */
function nearestText({ node, rejections }: NodeRejections): string {
  const lacks = shortagesOf(rejections).map(describeShortage);
  return lacks.length === rejections.length ? ` Nearest fit: ${node} lacks ${lacks.join(', ')}.` : '';
}

/**
 * Returns the node that is nearest to fitting: the node with the fewest rejections that are not shortages,
 * then with the smallest total shortage. Of equal nodes the first one is returned, so that the text does not
 * change without cause.
 */
export function nearestFit(nodes: readonly NodeRejections[]): NodeRejections | undefined {
  let nearest: Distance | undefined;
  for (const node of nodes) {
    const distance = distanceOf(node);
    if (!nearest || isNearer(distance, nearest)) nearest = distance;
  }
  return nearest?.node;
}

interface Distance {
  readonly node: NodeRejections;
  /** Number of rejections that are not shortages. */
  readonly others: number;
  /** Sum of the missing parts of requests. */
  readonly lack: number;
}

function distanceOf(node: NodeRejections): Distance {
  let others = 0;
  let lack = 0;
  for (const { shortage } of node.rejections)
    if (shortage) lack += missing(shortage);
    else others++;
  return { node, others, lack };
}

function isNearer(one: Distance, other: Distance): boolean {
  const order = one.others - other.others || one.lack - other.lack;
  return order < 0 || (order === 0 && one.node.node < other.node.node);
}

type Shortage = NonNullable<Rejection['shortage']>;

const shortagesOf = (rejections: readonly Rejection[]): readonly Shortage[] =>
  rejections.flatMap(({ shortage }) => shortage ?? []);

/** Returns the missing part of the request, between 0 and 1. */
const missing = ({ requested, free }: Shortage) => Math.min(1, (requested - free) / requested);

function describeShortage({ resource, requested, free }: Shortage): string {
  const amount = (value: number) => formatAmount(resource, value);
  return `${amount(requested - free)} ${resource} (requested ${amount(requested)}, free ${amount(free)})`;
}

export function formatAmount(resource: string, value: number): string {
  const whole = BigInt(Math.round(value));
  if (resource === 'cpu') return formatQuantity({ nano: whole * 1_000_000n, format: 'DecimalSI' });
  const format = resource === 'memory' || resource === 'ephemeral-storage' ? 'BinarySI' : 'DecimalSI';
  return formatQuantity({ nano: whole * 1_000_000_000n, format });
}

/** Annotation that holds `report` while a pod is unschedulable. */
export const reportAnnotation = 'scheduler.minik8s.io/rejections';

/** Maximum number of nodes in one report: enough to see a pattern, and small enough for an annotation. */
const reportedNodes = 20;

/**
 * Returns all rejections of each node as JSON, the nearest fit first; amounts are quantities. `refused` is
 * the rejection of all nodes.
 */
export function report(
  nodes: readonly NodeRejections[],
  total: number = nodes.length,
  refused?: Rejection,
): string {
  const nearest = nearestFit(nodes);
  const others = nodes.slice(0, reportedNodes).filter((node) => node !== nearest);
  const ordered = nearest ? [nearest, ...others] : [];
  const entries = ordered.slice(0, reportedNodes).map(({ node, rejections }) => ({
    node,
    reasons: rejections.map(({ plugin, text, shortage }) => ({
      plugin,
      reason: text,
      ...(shortage && {
        resource: shortage.resource,
        requested: formatAmount(shortage.resource, shortage.requested),
        free: formatAmount(shortage.resource, shortage.free),
      }),
    })),
  }));
  const reason = refused && { plugin: refused.plugin, reason: refused.text };
  return JSON.stringify({ total, ...(reason && { reason }), nodes: entries });
}
