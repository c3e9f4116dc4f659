/** Plans which node watches which folder for a Trigger of files, and the status of the watches. Pure. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import { volumeModeOf } from '../../../api/core/v1/volume/binding.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { choreNode } from '../../../controllers/volumes/chore-node.ts';
import { type FolderWatch, watchingReason } from '../api/folder-watch.ts';
import type { Trigger } from '../api/trigger.ts';
import { type Digest, triggerLabel, triggerReference } from '../api/trigger-event-draft.ts';
import type { Position, Problem } from './status-plan.ts';

type FileSource = NonNullable<Trigger['spec']['file']>;

export interface FileFacts {
  /** Claim named by `claimName`. */
  readonly claim: PersistentVolumeClaim | undefined;
  /** Volume to which the claim is bound. */
  readonly volume: PersistentVolume | undefined;
  readonly nodes: readonly Node[];
  /** Watches in the trigger's namespace that name it. */
  readonly watches: readonly FolderWatch[];
}

export interface FilePlan {
  readonly make: readonly Draft<FolderWatch>[];
  readonly remove: readonly FolderWatch[];
  readonly problem: Problem | undefined;
  /** Summary of the nodes that watch the folder and of the nodes that do not. */
  readonly detail: string | undefined;
  /** True if files wait because there are too many pending events. */
  readonly waits: boolean;
}

type Folder = Pick<FolderWatch['spec'], 'source' | 'folder' | 'path' | 'volumeName'>;

interface Place extends Folder {
  readonly nodes: readonly string[];
}

export function planFileWatches(
  trigger: Trigger,
  file: FileSource,
  position: Position,
  facts: FileFacts,
  digest: Digest,
): FilePlan {
  const place = placeOf(trigger, file, facts);
  const wanted = 'reason' in place ? [] : draftsOf(trigger, file, position, place, digest);
  const { uid } = trigger.metadata;
  const own = facts.watches.filter(({ metadata }) =>
    metadata.ownerReferences?.some((one) => one.uid === uid),
  );
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const kept = own.filter(({ metadata }) => names.has(metadata.name));
  const there = new Set(kept.map(({ metadata }) => metadata.name));
  return {
    make: wanted.filter(({ metadata }) => !there.has(metadata.name ?? '')),
    remove: own.filter(({ metadata }) => !names.has(metadata.name)),
    ...('reason' in place
      ? { problem: place, detail: undefined, waits: false }
      : summaryOf(place.nodes, kept, facts.nodes)),
  };
}

/** Returns the location of the folder, or the reason why it is unknown. */
function placeOf({ metadata }: Trigger, file: FileSource, facts: FileFacts): Place | Problem {
  if (file.claimName !== undefined)
    return placeOfClaim(metadata.namespace ?? '', file.claimName, file, facts);
  const { folder = '', nodeSelector = {} } = file;
  const nodes = facts.nodes.filter(({ metadata: { labels } }) =>
    Object.entries(nodeSelector).every(([key, value]) => labels?.[key] === value),
  );
  if (facts.nodes.length === 0) return { reason: 'NoNode', message: 'the cluster has no nodes' };
  if (nodes.length === 0)
    return { reason: 'NoNode', message: 'spec.file.nodeSelector: no node has these labels' };
  const names = nodes.map(({ metadata: { name } }) => name).sort();
  return { nodes: names, source: `/folders${folder}`, folder, path: '' };
}

function placeOfClaim(
  namespace: string,
  name: string,
  { path = '' }: FileSource,
  { claim, volume, nodes }: FileFacts,
): Place | Problem {
  const of = `spec.file.claimName: ${JSON.stringify(name)}`;
  if (!claim) return { reason: 'ClaimMissing', message: `${of}: there is no such claim in the namespace` };
  if (claim.status?.phase !== 'Bound' || volume?.spec.claimRef?.uid !== claim.metadata.uid) {
    const phase = claim.status?.phase ?? 'Pending';
    return { reason: 'ClaimNotBound', message: `${of}: the claim has no volume yet (it is ${phase})` };
  }
  const folder = volume.spec.local?.path ?? volume.spec.hostPath?.path;
  if (folder === undefined || volumeModeOf(volume) === 'Block') {
    const message = `${of}: its volume is not a folder of a node: use a local or hostPath volume`;
    return { reason: 'VolumeNotWatchable', message };
  }
  const found = choreNode(volume, nodes);
  if ('why' in found) return { reason: 'NodeUnknown', message: `${of}: ${found.why}` };
  const source = `/namespaces/${namespace}/persistentvolumeclaims/${name}`;
  return { nodes: [found.node], source, folder, path, volumeName: volume.metadata.name };
}

function draftsOf(
  trigger: Trigger,
  { pattern, types, recursive, includeContent }: FileSource,
  { of, since }: Position,
  { nodes, ...folder }: Place,
  digest: Digest,
): Draft<FolderWatch>[] {
  const { name, namespace, uid } = trigger.metadata;
  return nodes.map((nodeName) => {
    const hash = digest(
      JSON.stringify([uid, of, since, nodeName, folder.volumeName, folder.folder, folder.path]),
    );
    return {
      apiVersion: 'minik8s.io/v1',
      kind: 'FolderWatch',
      metadata: {
        name: `${name}-${hash.slice(0, 16)}`,
        namespace,
        labels: { [triggerLabel]: name },
        ownerReferences: [triggerReference(trigger)],
      },
      spec: {
        ...{ trigger: name, nodeName, since, ...folder, types, recursive, includeContent },
        ...(pattern !== undefined && { pattern }),
      },
    };
  });
}

/** Maximum number of nodes that a message names. */
const maxNamed = 5;

function summaryOf(
  names: readonly string[],
  watches: readonly FolderWatch[],
  nodes: readonly Node[],
): Pick<FilePlan, 'problem' | 'detail' | 'waits'> {
  const states = names.map((name) => stateOn(name, watches, nodes));
  const watching = states.filter(({ reason }) => reason === watchingReason);
  const others = states.filter(({ reason }) => reason !== watchingReason);
  const listed = (some: typeof states) => {
    const more = some.length > maxNamed ? `, and ${some.length - maxNamed} more` : '';
    return (
      some
        .slice(0, maxNamed)
        .map(({ name, message }) => (message ? `${name} (${message})` : name))
        .join(', ') + more
    );
  };
  const waits = watches.some(({ status }) => status?.waiting === true);
  const [first] = others;
  if (watching.length === 0 && first)
    return {
      problem: { reason: first.reason, message: `no node watches the folder: ${listed(others)}` },
      detail: undefined,
      waits,
    };
  const not = first ? `; not on ${listed(others)}` : '';
  return { problem: undefined, detail: `watched on ${listed(watching)}${not}`, waits };
}

function stateOn(name: string, watches: readonly FolderWatch[], nodes: readonly Node[]) {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  const isReady = node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (!isReady) return { name, reason: 'NodeNotReady', message: 'the node is not ready' };
  const status = watches.find(({ spec }) => spec.nodeName === name)?.status;
  if (status?.reason === undefined)
    return { name, reason: 'NotWatchedYet', message: 'the node has not reported yet that it watches' };
  return { name, reason: status.reason, message: status.message ?? '' };
}
