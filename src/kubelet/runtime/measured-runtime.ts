/**
 * Metrics of the engine's operations: how often each was called, how long it took, and how often it failed.
 */
import type { Clock } from '../../base/clock.ts';
import { Counts, exponentialBounds, type Family, Histograms } from '../../base/metrics/exposition.ts';
import { counter, histogram } from '../../base/metrics/metric-family.ts';
import { inChildSpan } from '../../base/tracing/current-span.ts';
import type { ContainerRuntime } from './runtime.ts';

/**
 * Kubernetes' names of the operations, where they exist. Operations that last until their clients end them
 * are not measured.
 */
const operations: ReadonlyMap<string, string> = new Map<keyof ContainerRuntime, string>([
  ['version', 'version'],
  ['list', 'list_containers'],
  ['inspect', 'container_status'],
  ['runSandbox', 'run_podsandbox'],
  ['assignSandbox', 'assign_podsandbox'],
  ['createContainer', 'create_container'],
  ['startContainer', 'start_container'],
  ['updateResources', 'update_container'],
  ['terminate', 'stop_container'],
  ['kill', 'kill_container'],
  ['remove', 'remove_container'],
  ['findImage', 'image_status'],
  ['pullImage', 'pull_image'],
  ['listImages', 'list_images'],
]);

/** Operations that only read; they are no steps of a pod's start and get no span. */
const looks = new Set(['version', 'list_containers', 'container_status', 'image_status', 'list_images']);

/** Bounds in seconds, the same as upstream's. */
const bounds = exponentialBounds(0.005, 2.5, 14);

export class RuntimeOperations {
  readonly #clock: Clock;
  readonly #durations = new Histograms(bounds);
  readonly #counts = new Counts();
  readonly #errors = new Counts();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the same runtime, with its operations measured. */
  measure<T extends ContainerRuntime>(runtime: T): T {
    return new Proxy(runtime, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        const operation = operations.get(String(property));
        if (operation === undefined) return value.bind(target);
        const work = (...args: unknown[]) => this.#time(operation, () => value.apply(target, args));
        if (looks.has(operation)) return work;
        return (...args: unknown[]) => inChildSpan(operation, {}, () => work(...args));
      },
    });
  }

  families(): readonly Family[] {
    return [
      counter(
        'kubelet_runtime_operations_total',
        'Number of operations of the container engine by type.',
        this.#counts.samples(),
      ),
      counter(
        'kubelet_runtime_operations_errors_total',
        'Number of failed operations of the container engine by type.',
        this.#errors.samples(),
      ),
      histogram(
        'kubelet_runtime_operations_duration_seconds',
        'Seconds that operations of the container engine took, by type.',
        this.#durations.samples(),
      ),
    ];
  }

  async #time<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const labels = { operation_type: operation };
    const from = this.#clock.monotonic();
    this.#counts.add(labels);
    try {
      return await work();
    } catch (error) {
      this.#errors.add(labels);
      throw error;
    } finally {
      this.#durations.observe(labels, (this.#clock.monotonic() - from) / 1000);
    }
  }
}
