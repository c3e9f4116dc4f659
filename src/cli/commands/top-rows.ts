/** The rows of `ctl top`, from the answers of metrics.k8s.io. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { sumOf, type Use, useIn } from '../../views/usage.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';

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
export function sorted(rows: readonly TopRow[], by: keyof Use | undefined): TopRow[] {
  const nameOf = ({ namespace, pod, name }: TopRow) => `${namespace}/${pod}/${name}`;
  const byName = (a: TopRow, b: TopRow) => (nameOf(a) < nameOf(b) ? -1 : 1);
  return rows.toSorted((a, b) => (by && b.use[by] - a.use[by]) || byName(a, b));
}

export const cpuText = ({ cpu }: Use) => `${cpu}m`;
export const memoryText = ({ memory }: Use) => `${Math.trunc(memory / 2 ** 20)}Mi`;

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
