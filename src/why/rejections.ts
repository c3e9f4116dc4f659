/** Why each node was rejected for a pod that is not scheduled, from the report of the scheduler. Pure. */
import { isRecord, type JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../apimachinery/fields.ts';
import { conditionOf, oneLine } from './pod-facts.ts';

/** Annotation of the report (src/scheduler/explain.ts). */
const annotation = 'scheduler.minik8s.io/rejections';
/** Number of nodes that evidence names. */
const shownNodes = 5;

export interface Unscheduled {
  /** Message of the condition PodScheduled, in one line. */
  readonly message: string;
  /** Reasons of the node that is nearest to fitting; empty without a report. */
  readonly nearest: readonly JsonObject[];
  readonly nearestNode: string;
  /** A line for each node, the nearest first. */
  readonly evidence: readonly string[];
}

/** Returns the report of a pod that the scheduler could not place; undefined for other pods. */
export function unscheduledOf(pod: JsonObject): Unscheduled | undefined {
  const condition = conditionOf(pod, 'PodScheduled');
  if (condition?.status !== 'False' || textAt(pod, 'spec', 'nodeName') !== '') return undefined;
  const message = oneLine(textAt(condition, 'message'));
  const nodes = selectedFirst(recordsAt(parsed(metadataOf(pod).annotations[annotation]), 'nodes'));
  const lines = nodes.slice(0, shownNodes).map((node) => {
    const reasons = recordsAt(node, 'reasons').map(reasonText);
    return `${textAt(node, 'node')}: ${reasons.join(', ')}`;
  });
  if (nodes.length > shownNodes) lines.push(`… and ${nodes.length - shownNodes} more nodes`);
  const [first] = nodes;
  return {
    message,
    nearest: first ? recordsAt(first, 'reasons') : [],
    nearestNode: first ? textAt(first, 'node') : '',
    evidence: lines.length > 0 ? lines : [message],
  };
}

/** Puts the nodes that the pod selects first: the reasons of the others help less. */
function selectedFirst(nodes: readonly JsonObject[]): readonly JsonObject[] {
  const isSelected = (node: JsonObject) =>
    !recordsAt(node, 'reasons').some((reason) => /node affinity\/selector/.test(textAt(reason, 'reason')));
  return [...nodes.filter(isSelected), ...nodes.filter((node) => !isSelected(node))];
}

/** Returns whether the nearest node, or without a report any node, was rejected for this reason. */
export const isRejectedFor = ({ nearest, message }: Unscheduled, words: RegExp): boolean =>
  nearest.length > 0 ? nearest.some((reason) => words.test(textAt(reason, 'reason'))) : words.test(message);

function reasonText(reason: JsonObject): string {
  const [requested, free] = [textAt(reason, 'requested'), textAt(reason, 'free')];
  return textAt(reason, 'reason') + (requested ? ` (requested ${requested}, free ${free})` : '');
}

function parsed(text: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
