/**
 * What a node agent may say in a body (upstream's plugin NodeRestriction, and less): which objects it may address by
 * URL the authorizer decides.
 */

import { leaseResource } from '../../api/coordination/v1/lease.ts';
import { type Event, eventResource } from '../../api/core/v1/event.ts';
import { type Node, nodeResource } from '../../api/core/v1/node.ts';
import { podCIDRAnnotation } from '../../api/core/v1/node-annotations.ts';
import { mayLabelItself } from '../../api/core/v1/node-labels.ts';
import { podResource } from '../../api/core/v1/pod.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { ServerContext } from '../server-context.ts';
import { findObject } from '../stored-object.ts';
import { nodeNameOf } from '../user.ts';
import type { Admission, AdmissionPlugin } from './plugin.ts';

/** Why it is refused; undefined when it is not. */
type Restriction = (
  server: ServerContext,
  node: string,
  admission: Admission,
) => string | undefined | Promise<string | undefined>;

const kindOf = ({ group, plural }: Pick<ResourceRef, 'group' | 'plural'>) => `${group}/${plural}`;

const restrictions = new Map<string, Restriction>([
  [kindOf(nodeResource), restrictNode],
  [kindOf(leaseResource), (_server, node, { operation, name }) => otherName(node, operation, name)],
  [kindOf(podResource), restrictPod],
  [kindOf(eventResource), restrictEvent],
]);

export const nodeRestriction: AdmissionPlugin = async (server, admission) => {
  const { definition, name, user } = admission;
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const why = await restrictions.get(kindOf(definition))?.(server, node, admission);
  if (why) throw newForbidden(definition, name, why);
};

function otherName(node: string, operation: Admission['operation'], name: string): string | undefined {
  return operation === 'create' && name !== node
    ? `node ${JSON.stringify(node)} is not allowed to create it`
    : undefined;
}

async function restrictNode(
  server: ServerContext,
  node: string,
  { operation, name, object, old }: Admission,
): Promise<string | undefined> {
  const [next, before] = [object as Node | undefined, old as Node | undefined];
  if (!next) return undefined;
  const foreign = otherName(node, operation, name);
  if (foreign) return foreign;
  if (operation === 'create' && !server.mayRegister(node) && !(await isThere(server, name))) {
    return `this cluster's nodes are added by a person: run minik8s ctl add node ${node}`;
  }
  keepPhase(next, before);
  const refused = (what: string) => `node ${JSON.stringify(node)} is not allowed to modify ${what}`;
  const label = changedLabels(next, before).find((key) => !mayLabelItself(key));
  if (label !== undefined) return refused(`the label ${label}`);
  const range = next.metadata.annotations?.[podCIDRAnnotation];
  if (range !== undefined && range !== next.spec.podCIDR) {
    if (range !== before?.metadata.annotations?.[podCIDRAnnotation])
      return refused(`the annotation ${podCIDRAnnotation} to anything but its podCIDR`);
  }
  if (!same(next.metadata.ownerReferences, before?.metadata.ownerReferences))
    return refused('ownerReferences');
  if (!same(next.metadata.finalizers, before?.metadata.finalizers)) return refused('finalizers');
  // Until it has reported what it is, it is registering: the Node was made for it by somebody else.
  if (!before?.status?.nodeInfo) return undefined;
  if (!same(next.spec.taints, before.spec.taints)) return refused('taints');
  return same(withoutRange(next), withoutRange(before)) ? undefined : refused('its specification');
}

/** Of the store itself: one that was taken out a moment ago must not come back by a cache that is behind. */
const isThere = async ({ store }: ServerContext, name: string) =>
  (await store.get(storageKey(nodeResource, '', name))) !== undefined;

/** It says whether a person has let the machine in. A report made on what was read before may carry an old one. */
function keepPhase(next: Node, before: Node | undefined): void {
  const phase = before?.status?.phase;
  if (phase !== undefined) next.status = { ...next.status, phase };
  else if (next.status) delete next.status.phase;
}

function changedLabels({ metadata }: KubeObject, before: KubeObject | undefined): string[] {
  const [labels, old] = [metadata.labels ?? {}, before?.metadata.labels ?? {}];
  return Object.keys({ ...labels, ...old }).filter((key) => labels[key] !== old[key]);
}

/** An absent list and an empty one are the same. */
const same = (a: object | undefined, b: object | undefined) => deepEqual(a ?? [], b ?? []);

/** The range of its pods it may be the first to name; validation keeps it from naming another. */
function withoutRange({ spec: { podCIDR: _, podCIDRs: __, ...rest } }: Node) {
  return { ...rest, taints: rest.taints ?? [] };
}

function restrictPod(
  _server: ServerContext,
  node: string,
  { subresource, object, old }: Admission,
): string | undefined {
  if (subresource !== 'status' || !object || !old) return undefined;
  const changed = (['labels', 'annotations'] as const).find(
    (field) => !same(object.metadata[field] ?? [], old.metadata[field] ?? []),
  );
  return changed && `node ${JSON.stringify(node)} cannot update ${changed} through pod status`;
}

/** Of its own, and about itself or pods that are bound to it (or gone). */
async function restrictEvent(
  server: ServerContext,
  node: string,
  { object, old }: Admission,
): Promise<string | undefined> {
  for (const event of [object, old] as readonly (Event | undefined)[]) {
    if (!event) continue;
    if (event.source.host !== node) return `node ${JSON.stringify(node)} is not the source of this event`;
    const { kind, namespace = '', name = '' } = event.involvedObject;
    const own =
      kind === 'Node' ? name === node : kind === 'Pod' && (await isOwnPod(server, node, namespace, name));
    if (!own) return `node ${JSON.stringify(node)} may only report about itself and its pods`;
  }
  return undefined;
}

async function isOwnPod(
  server: ServerContext,
  node: string,
  namespace: string,
  name: string,
): Promise<boolean> {
  const pod = await findObject(server, podResource, namespace, name);
  return pod === undefined || pod.spec.nodeName === node;
}
