/** Containers whose logs a page shows. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, numberAt, valueAt } from '../../../../../apimachinery/fields.ts';
import { type Labels, matches, parseLabelSelector } from '../../../../../apimachinery/labels.ts';
import { containersOf } from '../../../../../why/pod-facts.ts';

export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Identifies the container of this pod, not of a later one of the same name. */
  readonly id: string;
  /** True if there is a log: the container has been started. */
  readonly isStarted: boolean;
  /** True while the container runs, so that its log has no end yet. */
  readonly isRunning: boolean;
  readonly restarts: number;
}

/** Maximum number of logs that are followed at once. */
export const maxSources = 24;

export interface LogChoice {
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Name of one pod; empty for those that the labels select. */
  readonly pod: string;
  /** Label selector; empty for all. */
  readonly labels: string;
  /** Name of a container; empty for all that are not init containers. */
  readonly container: string;
}

/** Returns the containers of the chosen pods, ordered by name; none if the labels are not a selector. */
export function logSources(pods: readonly JsonObject[], choice: LogChoice): readonly LogSource[] {
  const selector = selectorOf(choice.labels);
  if (!selector) return [];
  return pods
    .filter((pod) => isChosen(pod, choice) && matches(selector, metadataOf(pod).labels as Labels))
    .flatMap((pod) => sourcesOf(pod, choice.container))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const nameOf = ({ namespace, pod, container }: LogSource) => `${namespace}/${pod}/${container}`;

function selectorOf(labels: string): ReturnType<typeof parseLabelSelector> | undefined {
  try {
    return parseLabelSelector(labels);
  } catch {
    return undefined;
  }
}

function isChosen(pod: JsonObject, choice: LogChoice): boolean {
  const { namespace, name } = metadataOf(pod);
  return (
    (choice.namespace === '' || namespace === choice.namespace) && (choice.pod === '' || name === choice.pod)
  );
}

function sourcesOf(pod: JsonObject, container: string): LogSource[] {
  const { namespace, name, uid } = metadataOf(pod);
  return containersOf(pod)
    .filter((one) => (container === '' ? !one.isInit : one.name === container))
    .map(({ name: of, status }) => ({
      ...{ namespace, pod: name, container: of, id: `${uid}/${of}` },
      isStarted: valueAt(status, 'state', 'waiting') === undefined && Object.keys(status).length > 0,
      isRunning: valueAt(status, 'state', 'running') !== undefined,
      restarts: numberAt(status, 'restartCount'),
    }))
    .map((source) => ({ ...source, isStarted: source.isStarted || source.restarts > 0 }));
}

export interface LogOptions {
  readonly isFollowing: boolean;
  /** True for the run before the last restart. */
  readonly isPrevious: boolean;
  /** Number of the last lines; all if it is undefined. */
  readonly tail: number | undefined;
  /** Time from which on lines are read, in RFC 3339; '' for no bound. */
  readonly since: string;
}

/** Returns the path of a log with the time before each line. */
export function logPath({ namespace, pod, container }: LogSource, options: LogOptions): string {
  const query = new URLSearchParams({ container, timestamps: 'true' });
  if (options.isFollowing && !options.isPrevious) query.set('follow', 'true');
  if (options.isPrevious) query.set('previous', 'true');
  if (options.tail !== undefined) query.set('tailLines', String(options.tail));
  if (options.since !== '') query.set('sinceTime', options.since);
  const place = [namespace, pod].map(encodeURIComponent);
  return `/api/v1/namespaces/${place[0]}/pods/${place[1]}/log?${query}`;
}
