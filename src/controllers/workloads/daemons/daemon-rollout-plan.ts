/**
 * Plans the rollout of a DaemonSet from one template to the next (k8s.io/kubernetes pkg/controller/daemon,
 * update.go). Pure.
 */
import type { DaemonSet } from '../../../api/apps/v1/daemon-set.ts';
import { podAvailable } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { resolveCount } from '../../../api/int-or-percent.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';
import type { DaemonChanges, Daemons } from './daemons-plan.ts';

const nothing: DaemonChanges = { create: [], remove: [] };

function surge({ spec: { updateStrategy } }: DaemonSet, nodes: number): number {
  if (updateStrategy.type !== 'RollingUpdate') return 0;
  return resolveCount(updateStrategy.rollingUpdate?.maxSurge ?? 0, nodes, Math.ceil);
}

/** Returns true if a node may have two pods. */
export const allowsSurge = (set: DaemonSet) => surge(set, 1) > 0;

/** Plans the rollout of a set that has no missing and no surplus pods. */
export function planRollout(daemons: Daemons): DaemonChanges {
  const { set, fits, pods } = daemons;
  if (set.spec.updateStrategy.type !== 'RollingUpdate') return nothing;
  const wanted = [...fits].filter(([, { run }]) => run).map(([node]) => node);
  const maxSurge = surge(set, wanted.length);
  const { maxUnavailable = 1 } = set.spec.updateStrategy.rollingUpdate ?? {};
  const nodes = [...new Set([...pods.keys(), ...wanted])];
  if (maxSurge > 0) return planSurge(daemons, nodes, maxSurge, wanted.length);
  const allowed = resolveCount(maxUnavailable, wanted.length, Math.ceil);
  // If both limits were 0 the rollout would never progress.
  return planReplacement(daemons, nodes, Math.max(allowed, Math.min(1, wanted.length)));
}

/**
 * Plans a rollout that deletes the old pod first. The deletion of an unavailable pod does not count against
 * the limit.
 */
function planReplacement(daemons: Daemons, nodes: readonly string[], maxUnavailable: number): DaemonChanges {
  const states = nodes.map((node) => replacementOn(daemons, node));
  const old = (wanted: boolean) => states.flatMap(({ isUp, pod }) => (pod && isUp === wanted ? [pod] : []));
  const unavailable = states.filter(({ isUp }) => !isUp).length;
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], remove: [...old(false), ...old(true).slice(0, allowed)] };
}

/** Returns the old pod to replace on a node, and whether the node's only pod is available. */
function replacementOn(daemons: Daemons, node: string): { readonly isUp: boolean; readonly pod?: Pod } {
  const on = podsOn(daemons, node);
  const only = on && (on.old ?? on.new);
  if (!only || (on.old && on.new)) return { isUp: false };
  return { isUp: isAvailable(daemons, only), ...(on.old && { pod: on.old }) };
}

/** Plans a rollout that creates the new pod first and deletes the old one when the new one is available. */
function planSurge(
  daemons: Daemons,
  nodes: readonly string[],
  maxSurge: number,
  wanted: number,
): DaemonChanges {
  const states = nodes.map((node) => ({ node, ...surgeOn(daemons, node) }));
  const podsAt = (step: 'remove' | 'leave') => states.flatMap((one) => (one.step === step ? [one.pod] : []));
  const replaced = states.filter(({ step }) => step === 'replace');
  const nodesOf = (some: readonly { readonly node: string }[]) => some.map(({ node }) => node);
  const surging = states.filter(({ step }) => step === 'surging').length;
  const available = states.filter(({ isAvailable: isUp }) => isUp).length;
  const maySurge = Math.max(0, maxSurge - surging);
  // Pods on nodes that should no longer have a pod are deleted when enough other pods are available.
  const mayLeave = Math.max(0, available - wanted);
  return {
    create: [
      ...nodesOf(replaced.filter((one) => !one.isAvailable)),
      ...nodesOf(replaced.filter((one) => one.isAvailable)).slice(0, maySurge),
    ],
    remove: [...podsAt('remove'), ...podsAt('leave').slice(0, mayLeave)],
  };
}

/** State of the rollout on a node. `pod` is the old pod. */
type SurgeOnNode = { readonly isAvailable: boolean } & (
  | { readonly step: 'done' | 'surging' | 'replace' }
  | { readonly step: 'remove' | 'leave'; readonly pod: Pod }
);

function surgeOn(daemons: Daemons, node: string): SurgeOnNode {
  const on = podsOn(daemons, node);
  if (!on) return { step: 'surging', isAvailable: false };
  const first = isAvailable(daemons, on.old ?? on.new);
  if (!on.old) return { step: 'done', isAvailable: first };
  const pod = on.old;
  if (on.new && !isAvailable(daemons, on.new)) return { step: 'surging', isAvailable: first };
  if (on.new) return { step: 'remove', isAvailable: first, pod };
  if (daemons.fits.get(node)?.run) return { step: 'replace', isAvailable: first };
  return { step: first ? 'leave' : 'remove', isAvailable: first, pod };
}

/** Returns the old and the new pod of a node, or undefined if it has several of one kind. */
function podsOn({ pods, hash }: Daemons, node: string): { old?: Pod; new?: Pod } | undefined {
  const on: { old?: Pod; new?: Pod } = {};
  for (const pod of pods.get(node) ?? []) {
    if (isTerminating(pod)) continue;
    const age = pod.metadata.labels?.[revisionLabel] === hash ? 'new' : 'old';
    if (on[age]) return undefined;
    on[age] = pod;
  }
  return on;
}

const isAvailable = ({ set, now }: Daemons, pod: Pod | undefined) =>
  pod !== undefined && podAvailable(pod, set.spec.minReadySeconds ?? 0, now);
