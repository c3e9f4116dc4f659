/** Metrics of function calls. The metrics of a function are removed with it. */
import { StatusError } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { type Family, Histogram, type Labels, type Sample } from '../../../base/metrics/exposition.ts';
import type { Registry } from '../../../base/metrics/registry.ts';
import type { FunctionCalls } from './function-calls.ts';

/** Bounds in seconds: a warm call takes a millisecond, a cold one hundreds, and a long one minutes. */
const bounds = [...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]];

interface CallSeries {
  readonly labels: Labels;
  /** Number of calls by the code of the answer. */
  readonly codes: Map<string, number>;
  readonly seconds: Histogram;
  coldStarts: number;
}

export class FunctionMetrics {
  readonly #clock: Clock;
  readonly #functions = new Map<string, CallSeries>();

  constructor(registry: Registry, clock: Clock, called: () => readonly FunctionCalls[]) {
    this.#clock = clock;
    registry.collect(() => [...this.#counted(), ...lookedUp(called())]);
  }

  /**
   * Records the beginning of a call. The returned function must be called with the code when the answer
   * begins, or when the call fails.
   */
  begin(calls: FunctionCalls): (code: number) => void {
    const { namespace = '', name } = calls.function.metadata;
    const series = this.#of(namespace, name);
    const begun = this.#clock.monotonic();
    if (calls.instances.size === 0) series.coldStarts++;
    return (code) => {
      const key = String(code);
      series.codes.set(key, (series.codes.get(key) ?? 0) + 1);
      series.seconds.observe((this.#clock.monotonic() - begun) / 1000);
    };
  }

  /** Removes the metrics of a deleted function. */
  forget(namespace: string, name: string): void {
    this.#functions.delete(`${namespace}/${name}`);
  }

  #of(namespace: string, name: string): CallSeries {
    return this.#functions.getOrInsertComputed(`${namespace}/${name}`, () => ({
      labels: { namespace, function: name },
      codes: new Map(),
      seconds: new Histogram(bounds),
      coldStarts: 0,
    }));
  }

  #counted(): readonly Family[] {
    const all = [...this.#functions.values()];
    return [
      {
        name: 'minik8s_function_calls_total',
        help: 'Calls of a function by status code of the response; 499: the client disconnected.',
        type: 'counter',
        samples: all.flatMap(({ labels, codes }) =>
          [...codes].map(([code, value]) => ({ labels: { ...labels, code }, value })),
        ),
      },
      {
        name: 'minik8s_function_call_duration_seconds',
        help: 'Seconds until the response to a call began, including the wait for an instance.',
        type: 'histogram',
        samples: all.flatMap(({ labels, seconds }) => seconds.samples(labels)),
      },
      {
        name: 'minik8s_function_cold_starts_total',
        help: 'Calls that found no instance.',
        type: 'counter',
        samples: all.map(({ labels, coldStarts }) => ({ labels, value: coldStarts })),
      },
    ];
  }
}

/** Returns the gauges of called functions, computed when the page is read. */
function lookedUp(called: readonly FunctionCalls[]): readonly Family[] {
  const family = (
    name: string,
    help: string,
    of: (calls: FunctionCalls, labels: Labels) => Sample[],
  ): Family => ({
    ...{ name: `minik8s_function_${name}`, help, type: 'gauge' },
    samples: called.flatMap((calls) => {
      const { namespace = '', name: fn } = calls.function.metadata;
      return of(calls, { namespace, function: fn });
    }),
  });
  return [
    family('calls_waiting', 'Calls that wait for an instance.', ({ waiting }, labels) => [
      { labels, value: waiting },
    ]),
    family(
      'instances',
      'Instances that accept calls, by whether they have calls.',
      ({ instances }, labels) => [
        { labels: { ...labels, state: 'busy' }, value: instances.busy },
        { labels: { ...labels, state: 'free' }, value: instances.size - instances.busy },
      ],
    ),
  ];
}

/** Nginx's code for a client that disconnected before the answer. */
const callerLeft = 499;

/** Returns the code of the error by which a call failed. */
export function codeOf(error: unknown): number {
  if (error instanceof StatusError) return error.status.code;
  return error instanceof DOMException && error.name === 'AbortError' ? callerLeft : 500;
}
