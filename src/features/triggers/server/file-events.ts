/**
 * Access of nodes to the watches of their folders: a node lists and watches its own FolderWatches, reports
 * their status, and creates events of changed files.
 */

import { deepEqual, isRecord } from '../../../apimachinery/equality.ts';
import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { newStatusError } from '../../../apimachinery/status-error.ts';
import type { Admission } from '../../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import { findObject } from '../../../apiserver/stored-object.ts';
import {
  always,
  isOfItsName,
  type NodeAccess,
  type NodeCondition,
} from '../../../kube-apiserver/authorization/node-access.ts';
import type { KubeContext } from '../../../kube-apiserver/context.ts';
import type { IndexDeclaration } from '../../../storage/cache.ts';
import { type FolderWatch, folderWatchResource } from '../api/folder-watch.ts';
import { type TriggerEvent, triggerEventResource } from '../api/trigger-event.ts';
import { eventName, triggerLabel } from '../api/trigger-event-draft.ts';
import { fullMessage, isFull } from './waiting-events.ts';

type Parts = Pick<KubeContext, 'cache' | 'clock' | 'latest' | 'store'>;

const { group, plural: watches } = folderWatchResource;
const { plural: events } = triggerEventResource;

export const fileNodeAccess = (server: Parts): NodeAccess => ({
  rules: [
    { group, resources: [watches], verbs: ['list', 'watch'], when: isOfItsName },
    { group, resources: [`${watches}/status`], verbs: ['patch'], when: isOwnWatch(server) },
    // The restriction checks for which triggers the node may create events.
    { group, resources: [events], verbs: ['create'], when: always },
  ],
  restrictions: {
    [`${group}/${watches}`]: { check: restrictFolderWatch },
    [`${group}/${events}`]: {
      checksOwners: true,
      check: (node, admission) => restrictTriggerEvent(server, node, admission),
    },
  },
});

/**
 * Returns true if the watch belongs to the node. A request for a deleted watch is authorized and answered
 * with 404.
 */
const isOwnWatch =
  (server: Parts): NodeCondition =>
  async ({ namespace, name }, node) => {
    if (name === '') return false;
    const watch = await findObject(server, folderWatchResource, namespace, name);
    return watch === undefined || watch.spec.nodeName === node;
  };

const watchesByNode: IndexDeclaration = {
  name: 'folder watches by node and trigger',
  prefix: storagePrefix(folderWatchResource),
  keysOf(object) {
    const { metadata, spec } = object as FolderWatch;
    return [key(spec.nodeName, metadata.namespace ?? '', spec.trigger)];
  },
};

const key = (node: string, namespace: string, trigger: string) => `${node} ${namespace}/${trigger}`;
const id = /^[0-9a-f]{32}$/;

/**
 * Returns the reason why the event is rejected; undefined if it is allowed. The node must watch a folder for
 * the trigger, and the event must have only the fields of an event of a file.
 */
async function restrictTriggerEvent(
  server: Parts,
  node: string,
  { operation, subresource, object }: Admission,
): Promise<string | undefined> {
  const event = object as TriggerEvent | undefined;
  if (operation !== 'create' || subresource !== '' || !event)
    return `node ${JSON.stringify(node)} may only create events of triggers`;
  const { namespace = '' } = event.metadata;
  const { spec } = event;
  const watches = await watchesOf(server, node, namespace, spec.trigger);
  const watch = watches.find((one) => one.spec.source === spec.source);
  if (!watch)
    return `node ${JSON.stringify(node)} watches no folder ${JSON.stringify(spec.source)} for trigger ${JSON.stringify(spec.trigger)}`;
  const fault = faultOf(event, watch, node);
  if (fault !== undefined) return `an event of a file: ${fault}`;
  if (isFull(server.cache, `${namespace}/${spec.trigger}`))
    throw newStatusError('TooManyRequests', fullMessage);
  return undefined;
}

function faultOf({ metadata, spec }: TriggerEvent, watch: FolderWatch, node: string): string | undefined {
  if (!id.test(spec.id) || metadata.name !== eventName(spec.trigger, spec.id))
    return "its id must have 32 hexadecimal digits, and its name must end with the first sixteen of them, after the trigger's name";
  if (!deepEqual(metadata.labels, { [triggerLabel]: spec.trigger }))
    return 'its label must be that of the trigger';
  if (metadata.annotations !== undefined || metadata.finalizers !== undefined)
    return 'it must not have annotations or finalizers';
  if (!deepEqual(metadata.ownerReferences, watch.metadata.ownerReferences))
    return 'its owner must be the trigger';
  const types = watch.spec.types.map((type) => `minik8s.io/file.${type.toLowerCase()}`);
  if (!types.includes(spec.type)) return `its type must be one of ${types.join(', ')}`;
  return faultOfSpec(spec, node);
}

function faultOfSpec({ depth, replays, chain, data }: TriggerEvent['spec'], node: string) {
  if (depth !== 0 || replays !== 0 || chain !== undefined)
    return 'its depth and its replays must be 0, and it must not have a chain';
  return !isRecord(data) || data.node !== node ? 'data.node must be the name of the node' : undefined;
}

/**
 * Returns the node's watches for a trigger. Another master may have stored one a moment ago, so the cache
 * catches up before the event is rejected.
 */
async function watchesOf(server: Parts, node: string, namespace: string, trigger: string) {
  const index = server.cache.index(watchesByNode);
  const of = key(node, namespace, trigger);
  if (!index.has(of)) await waitForNow(server, new AbortController());
  return index.get(of).map(({ object }) => object as FolderWatch);
}

/**
 * Returns the reason why a write to a FolderWatch is rejected: a node may only write the status of its own
 * watches.
 */
function restrictFolderWatch(node: string, { subresource, object, old }: Admission): string | undefined {
  const before = old as FolderWatch | undefined;
  if (subresource !== 'status' || !object || !before)
    return `node ${JSON.stringify(node)} may only change the status of a FolderWatch`;
  return before.spec.nodeName === node
    ? undefined
    : `node ${JSON.stringify(node)} may only change FolderWatches of its own`;
}
