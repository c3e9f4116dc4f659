/**
 * The metrics pages of a control plane: the API server's at /metrics, those of controllers and scheduler
 * below it, with the metric names of the corresponding Kubernetes programs.
 */

import type { Kinds } from '../apimachinery/kind-set.ts';
import { storagePrefix } from '../apimachinery/resource-definition.ts';
import { versionDocument } from '../apimachinery/version-document.ts';
import type { Clock } from '../base/clock.ts';
import type { Family } from '../base/metrics/exposition.ts';
import { Registry } from '../base/metrics/registry.ts';
import { LeaderMetrics, QueueMetrics } from '../controller-runtime/queue-metrics.ts';
import { SchedulerMetrics } from '../scheduler/scheduler-metrics.ts';
import type { Cache } from '../storage/cache.ts';

export interface PlaneMetrics {
  readonly apiserver: Registry;
  readonly controllers: Registry;
  readonly scheduler: Registry;
  readonly queues: QueueMetrics;
  readonly leader: LeaderMetrics;
  readonly scheduling: SchedulerMetrics;
}

export interface PlaneMetricsOptions {
  readonly clock: Clock;
  /** Version of minik8s. */
  readonly version: string;
  /** Resource usage of the process, included in each page; default none. */
  readonly processMetrics?: () => readonly Family[];
}

export function planeMetrics({ clock, version, processMetrics }: PlaneMetricsOptions): PlaneMetrics {
  const common = () => [buildInfo(version), ...(processMetrics?.() ?? [])];
  const page = () => {
    const registry = new Registry();
    registry.collect(common);
    return registry;
  };
  const [apiserver, controllers, scheduler] = [page(), page(), page()];
  return {
    apiserver,
    controllers,
    scheduler,
    queues: new QueueMetrics(controllers),
    leader: new LeaderMetrics(controllers),
    scheduling: new SchedulerMetrics(scheduler, clock),
  };
}

const buildInfo = (version: string): Family => ({
  name: 'kubernetes_build_info',
  help: 'Version of Kubernetes whose API this server implements.',
  type: 'gauge',
  samples: [{ labels: { git_version: versionDocument(version).gitVersion ?? '' }, value: 1 }],
});

/** Counts the objects of each kind. */
export function countObjects(page: Registry, kinds: Kinds, cache: Cache): void {
  page.collect(() => {
    const counts = kinds.stored.map((kind) => ({
      group: kind.group,
      resource: kind.plural,
      value: cache.list(storagePrefix(kind)).length,
    }));
    return [
      {
        name: 'apiserver_storage_objects',
        help: 'Objects that are stored, by kind.',
        type: 'gauge',
        samples: counts.map(({ group, resource, value }) => ({
          labels: { resource: group ? `${resource}.${group}` : resource },
          value,
        })),
      },
      {
        name: 'apiserver_resource_objects',
        help: 'Objects that are stored, by group and kind.',
        type: 'gauge',
        samples: counts.map(({ group, resource, value }) => ({ labels: { group, resource }, value })),
      },
    ];
  });
}
