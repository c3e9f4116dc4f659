/**
 * Numbers that cannot be watched, and are read every ten seconds while the app is visible: the usage of nodes
 * and pods (metrics.k8s.io), the traffic of Services, and the page of metrics of the master that answers.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { recordsAt } from '../../../apimachinery/fields.ts';
import { isForbidden, isNotFound } from '../../../apimachinery/status-error.ts';
import { samplesWith } from '../../../views/metric-samples.ts';
import { request, requestJson } from '../cluster/request.ts';

export interface Sampled {
  /** Time of the last answer in milliseconds since the epoch; 0 before the first. */
  readonly atMs: number;
  readonly items: readonly JsonObject[];
  /** True if the user may not read the numbers, or the server does not have them. */
  readonly refused: boolean;
}

const intervalMs = 10_000;

/** Returns a signal whose numbers are read while something subscribes to it. */
function sampled(read: () => Promise<readonly JsonObject[]>): ReadonlySignal<Sampled> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const state = signal<Sampled>({ atMs: 0, items: [], refused: false }, { watched: begin, unwatched: end });
  function begin(): void {
    clearTimeout(timer);
    void again();
  }
  function end(): void {
    clearTimeout(timer);
  }
  async function again(): Promise<void> {
    timer = setTimeout(() => void again(), intervalMs);
    if (document.hidden) return;
    try {
      state.value = { atMs: Date.now(), items: await read(), refused: false };
    } catch (error) {
      // Other failures are ignored: the next reading may succeed.
      if (!isForbidden(error) && !isNotFound(error)) return;
      clearTimeout(timer);
      state.value = { ...state.peek(), items: [], refused: true };
    }
  }
  return state;
}

const metrics = '/apis/metrics.k8s.io/v1beta1';
const listed = async (path: string) => recordsAt(await requestJson<JsonObject>(path), 'items');

export const nodeMetrics = sampled(() => listed(`${metrics}/nodes`));
export const podMetrics = sampled(() => listed(`${metrics}/pods`));

const ofServices = new Map<string, ReadonlySignal<Sampled>>();

/** Returns the traffic of the Services of a namespace, '' for those of all namespaces. */
export function serviceTraffic(namespace: string): ReadonlySignal<Sampled> {
  const known = ofServices.get(namespace);
  if (known) return known;
  const place = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const made = sampled(() => listed(`/apis/minik8s.io/v1${place}/servicetraffics`));
  ofServices.set(namespace, made);
  return made;
}

/** Samples of the API server's page whose names the pages of the app use. */
export const serverMetrics = sampled(async () => {
  const page = await (await request('/metrics')).text();
  return samplesWith(
    page
      .split('\n')
      .filter((line) => /^(?:apiserver_request_total|minik8s_function_)/.test(line))
      .join('\n'),
    {},
  );
});
