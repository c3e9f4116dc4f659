/**
 * Metrics of requests, under kube-apiserver's names (staging/src/k8s.io/apiserver/pkg/endpoints/metrics).
 * Labels only have the few values that are served: anything else in a URL is counted as ''.
 */
import type { StatusError } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import {
  Counter,
  type CounterCell,
  Gauge,
  Histogram,
  type HistogramCell,
  type Values,
} from '../../base/metrics/instruments.ts';
import type { Registry } from '../../base/metrics/registry.ts';
import type { Sort } from '../load/in-flight.ts';
import type { LongRunning } from '../subresources/subresources.ts';
import type { RequestInfo } from './request-info.ts';

/** Bounds in seconds, as upstream's. */
const durations = [
  ...[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
];
const about = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
] as const;
const component = 'apiserver';

export interface MeasuredRequest {
  readonly method: string;
  readonly info: RequestInfo;
  /** Verb of authorization; undefined for a path that is no resource. */
  readonly verb: string | undefined;
  readonly query: URLSearchParams;
  readonly longRunning: LongRunning | undefined;
  /** True if the address exists; all other addresses share one set of labels. */
  readonly isServed: boolean;
  /**
   * Calls `fn` when the answer has been sent or the client has disconnected; absent for callers in this
   * process.
   */
  readonly onClosed: ((fn: () => void) => void) | undefined;
}

/** Cells of one set of labels. */
interface Cells {
  readonly duration: HistogramCell;
  readonly sliDuration: HistogramCell;
  readonly codes: Map<number, CounterCell>;
}

export class RequestMetrics {
  readonly #clock: Clock;
  readonly #total: Counter<readonly [...typeof about, 'code']>;
  readonly #duration: Histogram<typeof about>;
  readonly #sli: Histogram<typeof about>;
  readonly #inFlight: Gauge<readonly ['request_kind']>;
  readonly #longRunning: Gauge<
    readonly ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component']
  >;
  readonly #rejected: Counter<readonly ['flow_schema', 'priority_level', 'reason']>;
  readonly #cells = new Map<string, Cells>();

  constructor(registry: Registry, clock: Clock) {
    this.#clock = clock;
    this.#total = registry.add(
      new Counter({
        name: 'apiserver_request_total',
        help: 'Number of answered requests, by verb, resource and status code.',
        labels: [...about, 'code'] as const,
      }),
    );
    const seconds = (name: string, help: string) =>
      registry.add(new Histogram({ name, help, labels: about, bounds: durations }));
    this.#duration = seconds('apiserver_request_duration_seconds', 'Seconds until a request was answered.');
    this.#sli = seconds(
      'apiserver_request_sli_duration_seconds',
      'Seconds until a request was answered, including the calls of webhooks. Watches and other long requests are not counted.',
    );
    this.#inFlight = registry.add(
      new Gauge({
        name: 'apiserver_current_inflight_requests',
        help: 'Number of requests in progress.',
        labels: ['request_kind'] as const,
      }),
    );
    for (const kind of ['readOnly', 'mutating'] as const) this.#inFlight.with(kind);
    this.#longRunning = registry.add(
      new Gauge({
        name: 'apiserver_longrunning_requests',
        help: 'Number of open watches and streams.',
        labels: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const,
      }),
    );
    this.#rejected = registry.add(
      new Counter({
        name: 'apiserver_flowcontrol_rejected_requests_total',
        help: 'Requests that were rejected for the client to retry, because there were too many.',
        labels: ['flow_schema', 'priority_level', 'reason'] as const,
      }),
    );
  }

  /** Measures the answer to a request. An error is thrown as `toStatus` converts it. */
  async measure(
    request: MeasuredRequest,
    answer: () => Response | Promise<Response>,
    toStatus: (error: unknown) => StatusError,
  ): Promise<Response> {
    const begun = this.#clock.monotonic();
    const labels = labelsOf(request);
    const [verb] = labels;
    const isLong = verb === 'WATCH' || request.longRunning !== undefined;
    if (isLong) request.onClosed?.(this.#opened(labels));
    const open = isLong ? undefined : this.#inFlight.with(isReading(verb) ? 'readOnly' : 'mutating');
    open?.add();
    let code = 500;
    try {
      const response = await answer();
      code = response.status;
      return response;
    } catch (error) {
      const status = toStatus(error);
      code = status.status.code ?? 500;
      throw status;
    } finally {
      open?.add(-1);
      this.#answered(labels, code, (this.#clock.monotonic() - begun) / 1000, isLong);
    }
  }

  rejected(sort: Sort): void {
    this.#rejected.add(sort, sort, 'concurrency-limit');
  }

  #opened(labels: Values<typeof about>): () => void {
    const [verb, , ...address] = labels;
    const cell = this.#longRunning.with(verb, ...address);
    cell.add();
    return () => cell.add(-1);
  }

  #answered(labels: Values<typeof about>, code: number, seconds: number, isLong: boolean): void {
    const key = labels.join('/');
    let cells = this.#cells.get(key);
    if (!cells) {
      cells = {
        duration: this.#duration.with(...labels),
        sliDuration: this.#sli.with(...labels),
        codes: new Map(),
      };
      this.#cells.set(key, cells);
    }
    let count = cells.codes.get(code);
    if (!count) {
      count = this.#total.with(...labels, String(code));
      cells.codes.set(code, count);
    }
    count.add();
    cells.duration.observe(seconds);
    if (!isLong) cells.sliDuration.observe(seconds);
  }
}

/** Upstream's names of verbs, by the verbs of authorization. */
const verbs: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function labelsOf({
  method,
  info,
  verb,
  query,
  longRunning,
  isServed,
}: MeasuredRequest): Values<typeof about> {
  const isKnown = info.type === 'resource' && isServed;
  const dryRun = query.get('dryRun') === 'All' ? 'All' : '';
  if (!isKnown) return [methods.has(method) ? method : 'other', dryRun, '', '', '', '', '', component];
  const { group, version, plural, namespace, name, subresource } = info;
  const reported = reportedVerb(verb, longRunning);
  const isOfOne = name !== '' || reported === 'POST';
  const scope = isOfOne ? 'resource' : scopeOfMany(namespace);
  return [reported, dryRun, group, version, plural, subresource, scope, component];
}

function reportedVerb(verb: MeasuredRequest['verb'], longRunning: MeasuredRequest['longRunning']): string {
  const isConnect = longRunning !== undefined && longRunning !== 'log';
  return isConnect ? 'CONNECT' : (verbs[verb ?? ''] ?? 'other');
}

const scopeOfMany = (namespace: string) => (namespace === '' ? 'cluster' : 'namespace');

const isReading = (verb: string) => verb === 'GET' || verb === 'LIST';
