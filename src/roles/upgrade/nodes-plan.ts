/**
 * Decisions of `minik8s upgrade --nodes`: which nodes are upgraded, in which order, and when a node's upgrade
 * is complete.
 */
import {
  parseUpgradeOrder,
  parseUpgradeResult,
  type UpgradeOrder,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../api/core/v1/node/upgrade.ts';

/** The fields of a Node that count here, as `ctl get nodes -o json` prints them. */
export interface NodeFacts {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly nodeInfo?: { readonly kubeletVersion?: string; readonly architecture?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

export interface NodesPlan {
  /** Names of the nodes to upgrade, in this order: those on masters first, then by name. */
  readonly upgrades: readonly string[];
  /** Names of the nodes that have the version already. */
  readonly current: readonly string[];
  /** Nodes that are left out, with the reason and what to do. */
  readonly byHand: readonly { readonly name: string; readonly why: string }[];
}

export interface NodesRequest {
  readonly version: string;
  /** Architecture as Kubernetes names it, such as amd64. */
  readonly architecture: string;
  /** Addresses of all masters. */
  readonly masters: readonly string[];
}

export function planNodes(nodes: readonly NodeFacts[], request: NodesRequest): NodesPlan {
  const { version, masters } = request;
  const isMaster = (node: NodeFacts) => addressesOf(node).some((address) => masters.includes(address));
  const ordered = nodes.toSorted(
    (a, b) => Number(isMaster(b)) - Number(isMaster(a)) || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
  const isDone = (node: NodeFacts) => versionOf(node) === version;
  const left = ordered.filter((node) => !isDone(node));
  const byHand = left.flatMap((node) => {
    const why = obstacleOf(node, request);
    return why === undefined ? [] : [{ name: nameOf(node), why }];
  });
  const isLeftOut = (node: NodeFacts) => byHand.some(({ name }) => name === nameOf(node));
  return {
    upgrades: left.filter((node) => !isLeftOut(node)).map(nameOf),
    current: ordered.filter(isDone).map(nameOf),
    byHand,
  };
}

const nameOf = ({ metadata }: NodeFacts) => metadata.name;
const addressesOf = ({ status }: NodeFacts) => (status?.addresses ?? []).map(({ address }) => address);

/** Returns the version of minik8s on a node, as `minik8s version` prints it there. */
const versionOf = ({ status }: NodeFacts) => status?.nodeInfo?.kubeletVersion?.split('-minik8s.', 2)[1];

const isReady = ({ status }: NodeFacts) =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

function obstacleOf(node: NodeFacts, { architecture }: NodesRequest): string | undefined {
  if (!isReady(node)) return 'is not Ready: start it, or delete its Node';
  if (node.metadata.annotations?.[upgradableAnnotation] === undefined)
    return 'runs no installed service that can upgrade itself: run minik8s upgrade --file FILE there, or replace its file by hand';
  const other = node.status?.nodeInfo?.architecture;
  if (other !== architecture)
    return `has the architecture ${other}: run minik8s upgrade --file FILE there, with a file for it`;
  return undefined;
}

export const isCordoned = ({ spec }: NodeFacts): boolean => spec?.unschedulable === true;

export type NodeProgress = 'done' | 'waiting' | { readonly error: string };

/** Returns the state of an order. A node that is not Ready, or cannot be read, counts as waiting. */
export function progressOf(node: NodeFacts | undefined, order: UpgradeOrder): NodeProgress {
  if (node === undefined) return 'waiting';
  const annotations = node.metadata.annotations ?? {};
  const result = parseUpgradeResult(annotations[upgradeResultAnnotation]);
  if (result?.id === order.id) return { error: result.error };
  const present = parseUpgradeOrder(annotations[upgradeAnnotation]);
  if (present?.id !== order.id) return { error: 'another order has replaced this one' };
  return versionOf(node) === order.version && isReady(node) ? 'done' : 'waiting';
}

/** Returns the message of a failed run: which nodes are upgraded, and how to continue or go back. */
export function failureText(
  failed: { readonly name: string; readonly error: string; readonly isCordoned: boolean },
  done: readonly string[],
  left: readonly string[],
): string {
  const list = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'none');
  const cordoned = failed.isCordoned
    ? `; ${failed.name} is still cordoned (minik8s ctl uncordon ${failed.name})`
    : '';
  return (
    `node ${failed.name} was not upgraded: ${failed.error}; upgraded: ${list(done)}; not yet: ${list(left)}${cordoned}; ` +
    'to go on: minik8s upgrade --nodes; to go back: minik8s upgrade --back, here and on each upgraded node'
  );
}
