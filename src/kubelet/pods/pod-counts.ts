/** Metrics of the lifecycle of pods and containers on this node, under upstream's names. */
import { initContainersOf } from '../../api/core/v1/container/init-containers.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { Counts, type Family, Histograms, usualBounds } from '../../base/metrics/exposition.ts';
import { counter, histogram } from '../../base/metrics/metric-family.ts';

export class PodCounts {
  readonly #pods = new Counts();
  readonly #podErrors = new Counts();
  readonly #containers = new Counts();
  readonly #containerErrors = new Counts();
  readonly #evictions = new Counts();
  readonly #rejections = new Counts();
  readonly #steps = new Histograms(usualBounds);

  /** Counts a sandbox that is about to be made. */
  podStarts(): void {
    this.#pods.add();
  }

  podFailed(): void {
    this.#podErrors.add();
  }

  containerStarts(pod: Pod, name: string): void {
    this.#containers.add({ container_type: typeOf(pod, name) });
  }

  /** Counts a container that could not be started. `code` is the reason in its status. */
  containerFailed(pod: Pod, name: string, code: string): void {
    this.#containerErrors.add({ container_type: typeOf(pod, name), code });
  }

  /** Counts an eviction. `signal` is the resource that the node or the pod was short of. */
  evicted(signal: string): void {
    this.#evictions.add({ eviction_signal: signal });
  }

  rejected(reason: string): void {
    this.#rejections.add({ reason });
  }

  stepped(kind: 'sync' | 'terminating' | 'terminated', seconds: number): void {
    this.#steps.observe({ operation_type: kind }, seconds);
  }

  families(): readonly Family[] {
    return [
      fromZero(total('started_pods_total', 'Attempts to create a sandbox of a pod', this.#pods)),
      fromZero(
        total(
          'started_pods_errors_total',
          'Attempts to create a sandbox of a pod that failed',
          this.#podErrors,
        ),
      ),
      total('started_containers_total', 'Attempts to start a container', this.#containers),
      total(
        'started_containers_errors_total',
        'Attempts to start a container that failed',
        this.#containerErrors,
      ),
      total('evictions', 'Pods that were evicted, by the resource that was short', this.#evictions),
      total('admission_rejections_total', 'Pods that this node rejected', this.#rejections),
      histogram(
        'kubelet_pod_worker_duration_seconds',
        'Seconds that one step for a pod took',
        this.#steps.samples(),
      ),
    ];
  }
}

const total = (name: string, help: string, counts: Counts): Family =>
  counter(`kubelet_${name}`, help, counts.samples());

/** Adds a sample of 0 to a metric without labels that has none yet. */
const fromZero = (family: Family): Family =>
  family.samples.length > 0 ? family : { ...family, samples: [{ value: 0 }] };

function typeOf({ spec }: Pod, name: string): string {
  if (spec.containers.some((one) => one.name === name)) return 'container';
  return initContainersOf(spec).some((one) => one.name === name) ? 'init_container' : 'ephemeral_container';
}
