/** Runs one probe of one container periodically. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import { runHandler } from './handlers/run-handler.ts';
import { firstDelayMs, firstFailureCounts } from './plan/first-probe.ts';
import type { Outcome } from './plan/outcome.ts';
import { count, type Series } from './plan/probe-results.ts';
import { nextRun, type ProbeTiming, timingOf } from './plan/probe-timing.ts';
import type { WantedProbe } from './plan/wanted-probes.ts';
import type { ProbeCounts } from './probe-counts.ts';

export interface ProbeContext {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: EventRecorder;
  readonly probeCounts: ProbeCounts;
  /** Time at which this agent began to run probes, in milliseconds since the epoch. */
  readonly probesSince: number;
}

/** Maximum attempts of a run whose handler could not be run. */
const maxAttempts = 3;
const titles = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;

export class ProbeLoop {
  readonly #context: ProbeContext;
  readonly #wanted: WantedProbe;
  readonly #pod: Pod;
  readonly #onDecided: (succeeded: boolean) => void;
  readonly #stop = new AbortController();
  readonly #timing: ProbeTiming;
  #timer: Timer;
  /** Monotonic time of the next run, or of the one in progress. */
  #due: number;
  #series: Series | undefined;
  #isFirst = true;

  /** `onDecided` is called after each run that decides a result, also for the same result again. */
  constructor(context: ProbeContext, pod: Pod, wanted: WantedProbe, onDecided: (succeeded: boolean) => void) {
    const { clock, random, probesSince } = context;
    this.#context = context;
    this.#pod = pod;
    this.#wanted = wanted;
    this.#onDecided = onDecided;
    this.#timing = timingOf(wanted.probe);
    const delay = firstDelayMs(wanted, { now: clock.now(), since: probesSince, share: random.next() });
    this.#due = clock.monotonic() + delay;
    this.#timer = clock.after(delay, () => void this.#run());
  }

  /** Stops the loop and aborts a run in progress. */
  stop(): void {
    this.#stop.abort();
    this.#timer.cancel();
  }

  async #run(): Promise<void> {
    const { clock, probeCounts } = this.#context;
    const from = clock.monotonic();
    const outcome = await this.#runHandler();
    if (this.#stop.signal.aborted) return;
    const { kind, container } = this.#wanted;
    const seconds = (clock.monotonic() - from) / 1000;
    probeCounts.count(this.#pod, { kind, container: container.name, result: outcome.result, seconds });
    this.#take(outcome);
    // The next run does not begin while the previous one is still being ended.
    const problem = await outcome.rest;
    if (problem !== undefined) this.#report('unknown', problem);
    if (this.#stop.signal.aborted) return;
    const now = clock.monotonic();
    this.#due = nextRun({ due: this.#due, periodMs: this.#timing.periodMs, now });
    this.#timer = clock.after(this.#due - now, () => void this.#run());
  }

  async #runHandler(): Promise<Outcome> {
    const { probe, container, containerId, podIP } = this.#wanted;
    const target = { container, containerId, podIP };
    for (let attempt = 1; ; attempt++) {
      const outcome = await runHandler(
        this.#context,
        probe,
        target,
        this.#timing.timeoutMs,
        this.#stop.signal,
      );
      if (outcome.result !== 'unknown' || attempt === maxAttempts || this.#stop.signal.aborted)
        return outcome;
    }
  }

  #take({ result, output }: Outcome): void {
    const isFree = this.#isFirst && !firstFailureCounts(this.#wanted);
    this.#isFirst = false;
    if (isFree && (result === 'failure' || result === 'unknown')) return;
    this.#report(result, output);
    if (result === 'unknown') return;
    const { series, decided } = count(this.#series, result !== 'failure', this.#wanted.probe);
    this.#series = series;
    if (decided !== undefined) this.#onDecided(decided);
  }

  #report(result: Outcome['result'], output: string): void {
    const { events } = this.#context;
    const title = titles[this.#wanted.kind];
    if (result === 'failure')
      events.event(this.#pod, 'Warning', 'Unhealthy', `${title} probe failed: ${output}`);
    if (result === 'unknown')
      events.event(this.#pod, 'Warning', 'Unhealthy', `${title} probe errored: ${output}`);
    if (result === 'warning')
      events.event(this.#pod, 'Warning', 'ProbeWarning', `${title} probe warning: ${output}`);
  }
}
