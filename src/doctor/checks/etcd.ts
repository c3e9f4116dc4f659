/** Checks of the embedded etcd by its own metrics. Pure. */
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface EtcdFacts {
  /** Text of etcd's metrics, or the reason why it does not answer. */
  readonly page: { readonly text: string } | { readonly problem: string };
}

const walSync = 'etcd_disk_wal_fsync_duration_seconds';
/** etcd's own recommendation for the 99th percentile. */
const goodSyncSeconds = 0.01;
const fullShare = 0.8;

export const etcdChecks: readonly Check<EtcdFacts, Situation>[] = [
  {
    name: 'etcd-answers',
    find: ({ page }, { restart, pid }) => {
      if (!('problem' in page)) return [];
      if (pid === undefined) return [note('etcd does not run', 'minik8s starts it')];
      return [
        fault(
          `etcd does not answer: ${page.problem}`,
          'nothing of the cluster can be read or stored',
          restart,
        ),
      ];
    },
  },
  {
    name: 'etcd-speed',
    find({ page }) {
      const slowest = 'text' in page ? percentile(page.text, walSync, 0.99) : undefined;
      if (slowest === undefined) return [];
      const found = `99 of 100 writes of etcd's log took at most ${Math.round(slowest * 1000)} ms`;
      if (slowest <= goodSyncSeconds) return [ok(found)];
      return [
        note(
          found,
          `etcd recommends at most ${goodSyncSeconds * 1000} ms; a busy or slow disk delays writes`,
        ),
      ];
    },
  },
  {
    name: 'etcd-size',
    find({ page }) {
      if (!('text' in page)) return [];
      const size = metricIn(page.text, 'etcd_mvcc_db_total_size_in_bytes');
      const inUse = metricIn(page.text, 'etcd_mvcc_db_total_size_in_use_in_bytes');
      const quota = metricIn(page.text, 'etcd_server_quota_backend_bytes');
      if (size === undefined || inUse === undefined || !quota)
        return [note('etcd reports no size of its database')];
      const found = `the database has ${megabytes(size)} of ${megabytes(quota)}, ${megabytes(inUse)} in use`;
      if (inUse < fullShare * quota) return [ok(found)];
      return [
        warning(
          found,
          'writes are refused once it is full',
          "minik8s ctl get --raw /metrics | grep '^apiserver_storage_objects'",
        ),
      ];
    },
  },
];

/** Returns the value of a metric without labels in Prometheus' text format. */
export function metricIn(text: string, name: string): number | undefined {
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
  return value === undefined ? undefined : Number(value);
}

/** Returns the upper bound of the bucket with the percentile of a histogram; undefined if it is empty. */
export function percentile(text: string, name: string, share: number): number | undefined {
  const buckets = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)$`, 'gm'))].map(
    ([, bound = '', count = '']) => ({
      bound: bound === '+Inf' ? Infinity : Number(bound),
      count: Number(count),
    }),
  );
  const total = buckets.at(-1)?.count ?? 0;
  return total === 0 ? undefined : buckets.find(({ count }) => count >= share * total)?.bound;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
