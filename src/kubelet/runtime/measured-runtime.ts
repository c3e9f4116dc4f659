/** How often the engine was asked for what, how long that took, and how often it failed. */
import type { Clock } from '../../base/clock.ts';
import { type Family, Histogram } from '../../base/exposition.ts';
import type { ContainerRuntime } from './runtime.ts';

/** By Kubernetes' names of operations, where there is one. What lasts as long as its client likes is not measured. */
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

/** Seconds, as upstream's. */
const bounds = Array.from({ length: 14 }, (_, index) => Number((0.005 * 2.5 ** index).toPrecision(12)));

export class RuntimeOperations {
  readonly #clock: Clock;
  readonly #durations = new Map<string, Histogram>();
  readonly #counts = new Map<string, number>();
  readonly #errors = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The same runtime, measured. */
  measure<T extends ContainerRuntime>(runtime: T): T {
    return new Proxy(runtime, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        const operation = operations.get(String(property));
        if (operation === undefined) return value.bind(target);
        return (...args: unknown[]) => this.#time(operation, () => value.apply(target, args));
      },
    });
  }

  families(): readonly Family[] {
    const counted = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([type, value]) => ({ labels: { operation_type: type }, value }));
    return [
      {
        name: 'kubelet_runtime_operations_total',
        help: 'Number of operations of the container engine by type.',
        type: 'counter',
        samples: counted(this.#counts),
      },
      {
        name: 'kubelet_runtime_operations_errors_total',
        help: 'Number of failed operations of the container engine by type.',
        type: 'counter',
        samples: counted(this.#errors),
      },
      {
        name: 'kubelet_runtime_operations_duration_seconds',
        help: 'Seconds that operations of the container engine took, by type.',
        type: 'histogram',
        samples: [...this.#durations].flatMap(([type, durations]) =>
          durations.samples({ operation_type: type }),
        ),
      },
    ];
  }

  async #time<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const from = this.#clock.monotonic();
    this.#counts.set(operation, (this.#counts.get(operation) ?? 0) + 1);
    try {
      return await work();
    } catch (error) {
      this.#errors.set(operation, (this.#errors.get(operation) ?? 0) + 1);
      throw error;
    } finally {
      const durations = this.#durations.get(operation) ?? new Histogram(bounds);
      this.#durations.set(operation, durations);
      durations.observe((this.#clock.monotonic() - from) / 1000);
    }
  }
}
