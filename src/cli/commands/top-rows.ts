/** The rows of `ctl top`, from the answers of metrics.k8s.io. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { sumOf, type Use, type UsedAmount, useIn } from '../../views/usage.ts';
import { metadataOf, recordsAt, textAt, valueAt } from '../objects/objects.ts';

export interface TopRow {
  readonly namespace: string;
  readonly pod: string;
  readonly name: string;
  readonly use: Use;
}

export const sorts = ['cpu', 'memory'] as const;

/** Returns a row for each pod, or for each container. */
export function podRows(metrics: readonly JsonObject[], byContainer: boolean): TopRow[] {
  return metrics.flatMap((one) => {
    const { name, namespace = '' } = metadataOf(one);
    const containers = recordsAt(one, 'containers').map((container) => ({
      name: textAt(container, 'name'),
      use: useIn(container, 'usage'),
    }));
    const head = { namespace, pod: name };
    if (byContainer) return containers.map((container) => ({ ...head, ...container }));
    return [{ ...head, name, use: sumOf(containers.map(({ use }) => use)) }];
  });
}

export const nodeRows = (metrics: readonly JsonObject[]): TopRow[] =>
  metrics.map((one) => ({ namespace: '', pod: '', name: metadataOf(one).name, use: useIn(one, 'usage') }));

/** Sorts by name, or with the largest value first. */
export function sorted(rows: readonly TopRow[], by: UsedAmount | undefined): TopRow[] {
  const nameOf = ({ namespace, pod, name }: TopRow) => `${namespace}/${pod}/${name}`;
  const byName = (a: TopRow, b: TopRow) => (nameOf(a) < nameOf(b) ? -1 : 1);
  return rows.toSorted((a, b) => (by && (b.use[by] ?? 0) - (a.use[by] ?? 0)) || byName(a, b));
}

export const cpuText = ({ cpu }: Use) => `${cpu}m`;
export const memoryText = ({ memory }: Use) => mebibytes(memory);
export const swapText = ({ swap = 0 }: Use) => mebibytes(swap);
const mebibytes = (bytes: number) => `${Math.trunc(bytes / 2 ** 20)}Mi`;

/** Returns the swap in use, and its share of the node's swap; `<unknown>` for a node that reports none. */
export function swapCells({ swap = 0 }: Use, node: JsonObject): readonly [used: string, share: string] {
  const capacity = valueAt(node, 'status', 'nodeInfo', 'swap', 'capacity');
  if (typeof capacity !== 'number') return ['<unknown>', '<unknown>'];
  return [mebibytes(swap), `${capacity > 0 ? Math.trunc((swap * 100) / capacity) : 0}%`];
}

/** Returns the usage in percent of the node's resources. */
export function shares(
  { cpu, memory }: Use,
  node: JsonObject,
  of: 'allocatable' | 'capacity' = 'allocatable',
): [cpu: string, memory: string] {
  const all = useIn(node, 'status', of);
  const share = (used: number, total: number) =>
    total > 0 ? `${Math.trunc((used * 100) / total)}%` : '<unknown>';
  return [share(cpu, all.cpu), share(memory, all.memory)];
}
