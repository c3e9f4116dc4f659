/**
 * Converts a map of an object to the labels of a sample (kube-state-metrics: mapToPrometheusLabels). Pure.
 */
import type { Labels } from '../../base/metrics/exposition.ts';
import { labelName } from './resource-units.ts';

/**
 * Returns the labels: `app.kubernetes.io/name` becomes `label_app_kubernetes_io_name`. Names that become
 * equal are all numbered.
 */
export function labelsFrom(prefix: string, map: Readonly<Record<string, string>> = {}): Labels {
  const names = Object.keys(map).sort();
  const total = Map.groupBy(names, (name) => plainName(prefix, name));
  const labels: Record<string, string> = {};
  const counts = new Map<string, number>();
  for (const name of names) {
    const plain = plainName(prefix, name);
    let label = plain;
    for (let count = counts.get(plain) ?? 0; (total.get(plain)?.length ?? 0) > 1; ) {
      counts.set(plain, ++count);
      label = `${plain}_conflict${count}`;
      if (!total.has(label) && labels[label] === undefined) break;
    }
    labels[label] = map[name] ?? '';
  }
  return labels;
}

const plainName = (prefix: string, name: string) =>
  `${prefix}_${labelName(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()}`;
