/**
 * Metrics of the scheduler under kube-scheduler's names (pkg/scheduler/metrics): attempts and their results,
 * the total waiting time of pods, and the pending pods. Times are monotonic.
 */
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { Clock } from '../base/clock.ts';
import { exponentialBounds } from '../base/metrics/exposition.ts';
import { Counter, Histogram } from '../base/metrics/instruments.ts';
import type { Registry } from '../base/metrics/registry.ts';

export type Result = 'scheduled' | 'unschedulable' | 'error';

/** Numbers of pods in upstream's queues. */
export interface PendingPods {
  readonly active: number;
  readonly backoff: number;
  readonly unschedulable: number;
  readonly gated: number;
}

interface Wanting {
  readonly since: number;
  attempts: number;
  begun: number;
}

const byResult = ['result', 'profile'] as const;

export class SchedulerMetrics {
  readonly #clock: Clock;
  readonly #attempts: Counter<typeof byResult>;
  readonly #attemptSeconds: Histogram<typeof byResult>;
  readonly #decisionSeconds: Histogram;
  readonly #podSeconds: Histogram<readonly ['attempts']>;
  readonly #podAttempts: Histogram;
  readonly #preemptions: Counter;
  readonly #victims: Histogram;
  /** Pods that have no node. */
  readonly #wanting = new Map<ObjectKey, Wanting>();
  #pending: () => PendingPods = () => ({ active: 0, backoff: 0, unschedulable: 0, gated: 0 });

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    const milliseconds = exponentialBounds(0.001, 2, 15);
    const histogram = (name: string, help: string, bounds: readonly number[]) =>
      registry.add(new Histogram({ name: `scheduler_${name}`, help, bounds }));
    this.#attempts = registry.add(
      new Counter({
        name: 'scheduler_schedule_attempts_total',
        help: 'Attempts to find a node for a pod, by result.',
        labels: byResult,
      }),
    );
    this.#attemptSeconds = registry.add(
      new Histogram({
        name: 'scheduler_scheduling_attempt_duration_seconds',
        help: 'Seconds of an attempt, including the binding.',
        labels: byResult,
        bounds: milliseconds,
      }),
    );
    this.#decisionSeconds = histogram(
      'scheduling_algorithm_duration_seconds',
      'Seconds that a decision took.',
      milliseconds,
    );
    this.#podSeconds = registry.add(
      new Histogram({
        name: 'scheduler_pod_scheduling_sli_duration_seconds',
        help: 'Seconds from the first sight of a pod until it was bound, by attempts.',
        labels: ['attempts'] as const,
        bounds: exponentialBounds(0.01, 2, 20),
      }),
    );
    this.#podAttempts = histogram('pod_scheduling_attempts', 'Attempts that a pod needed.', [1, 2, 4, 8, 16]);
    this.#preemptions = registry.add(
      new Counter({
        name: 'scheduler_preemption_attempts_total',
        help: 'Number of preemption attempts.',
      }),
    );
    this.#victims = histogram(
      'preemption_victims',
      'Number of victims of a preemption.',
      [1, 2, 4, 8, 16, 32, 64],
    );
    registry.collect(() => [
      {
        name: 'scheduler_pending_pods',
        help: 'Number of pending pods by queue: active, backoff, unschedulable or gated.',
        type: 'gauge',
        samples: Object.entries(this.#pending()).map(([queue, value]) => ({ labels: { queue }, value })),
      },
    ]);
  }

  /**
   * Starts a term: `pending` returns the pending pods from now on. The pods of an earlier term are discarded.
   */
  begins(pending: () => PendingPods): void {
    this.#pending = pending;
    this.#wanting.clear();
  }

  /** Records that the pod needs a node. */
  wants(key: ObjectKey): void {
    if (!this.#wanting.has(key))
      this.#wanting.set(key, { since: this.#clock.monotonic(), attempts: 0, begun: 0 });
  }

  /** Removes a pod that was deleted or got its node from another scheduler. */
  forget(key: ObjectKey): void {
    this.#wanting.delete(key);
  }

  attempt(key: ObjectKey): void {
    const pod = this.#wanting.get(key);
    if (!pod) return;
    pod.attempts++;
    pod.begun = this.#clock.monotonic();
  }

  decided(seconds: number): void {
    this.#decisionSeconds.observe(seconds);
  }

  ended(key: ObjectKey, result: Result, profile: string): void {
    const pod = this.#wanting.get(key);
    if (!pod) return;
    const now = this.#clock.monotonic();
    this.#attempts.add(result, profile);
    this.#attemptSeconds.observe((now - pod.begun) / 1000, result, profile);
    if (result !== 'scheduled') return;
    this.#wanting.delete(key);
    // Upstream reports more than fifteen attempts as one value.
    this.#podSeconds.observe((now - pod.since) / 1000, pod.attempts > 15 ? '15+' : String(pod.attempts));
    this.#podAttempts.observe(pod.attempts);
  }

  preempted(victims: number): void {
    this.#preemptions.add();
    this.#victims.observe(victims);
  }
}
