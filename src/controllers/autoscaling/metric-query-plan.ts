/**
 * Builds the PromQL query for a metric of pods, of an object or from outside. The autoscaler's fields can
 * only narrow the query: every name and value is quoted, and the namespace is the autoscaler's own. Pure.
 */
import type { MetricIdentifier, MetricSpec } from '../../api/autoscaling/v2/types.gen.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { type LabelRequirement, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import { MetricFailure } from './replicas-plan.ts';

/** Query that the administrator configured for a metric of this name. */
export interface OwnQuery {
  readonly metric: string;
  /** PromQL with `$selector` in braces, which is replaced by the autoscaler's matchers. */
  readonly query: string;
  /** True if the query covers the series of all namespaces. */
  readonly allNamespaces: boolean;
}

export interface MetricQueries {
  /** Labels of the series that hold the namespace and the pod. */
  readonly labels: { readonly namespace: string; readonly pod: string };
  readonly pods: readonly OwnQuery[];
  readonly objects: readonly OwnQuery[];
  readonly external: readonly OwnQuery[];
}

export const usualQueries: MetricQueries = {
  labels: { namespace: 'namespace', pod: 'pod' },
  pods: [],
  objects: [],
  external: [],
};

const placeholder = '$selector';

interface QueryContext {
  readonly namespace: string;
  /** Matcher of the target's pods, as `podsMatcher` returns it. */
  readonly pods: string;
  /** Returns the singular name of a kind, such as `service` for Service. */
  readonly singularOf: (kind: string) => string;
}

/** Returns the part of a query that matches the pods by name. */
export const podsMatcher = (pods: readonly Pod[], { labels }: MetricQueries): string =>
  `${labels.pod}=~${anyOf(pods.map(({ metadata }) => metadata.name))}`;

/** Returns true if the metric is queried from Prometheus. */
export const isOutside = ({ type, pods, object, external }: MetricSpec): boolean =>
  (type === 'Pods' && pods !== undefined) ||
  (type === 'Object' && object !== undefined) ||
  (type === 'External' && external !== undefined);

/** Returns the query of a metric for which `isOutside` is true. Throws MetricFailure. */
export function queryOf(metric: MetricSpec, context: QueryContext, queries: MetricQueries): string {
  const { labels } = queries;
  const here = equal(labels.namespace, context.namespace);
  const { pods, object, external } = metric;
  if (metric.type === 'Pods' && pods) {
    const where = [here, context.pods];
    return written(pods.metric, where, queries.pods, (series) => `sum by (${labels.pod}) (${series})`);
  }
  if (metric.type === 'Object' && object) {
    const { kind, name } = object.describedObject;
    const where = kind === 'Namespace' ? [here] : [here, equal(labelName(context.singularOf(kind)), name)];
    return written(object.metric, where, queries.objects, (series) => `sum(${series})`);
  }
  if (metric.type === 'External' && external) {
    const own = queries.external.find(({ metric: name }) => name === external.metric.name);
    const where = own?.allNamespaces ? [] : [here];
    return written(external.metric, where, queries.external, (series) => `sum(${series})`);
  }
  throw new MetricFailure(`metrics of type ${metric.type} are not queried`);
}

/** Matcher that every series matches, because a missing label equals an empty one. */
const everything = 'namespace=~".*"';

function written(
  { name, selector }: MetricIdentifier,
  where: readonly string[],
  own: readonly OwnQuery[],
  usual: (series: string) => string,
): string {
  const selected = selector ? selectorFromLabelSelector(selector).requirements.map(matcherOf) : [];
  const matchers = [...where, ...selected];
  const query = own.find(({ metric }) => metric === name)?.query;
  if (query !== undefined) return query.replaceAll(placeholder, () => matchers.join(',') || everything);
  return usual(`{${[equal('__name__', name), ...matchers].join(',')}}`);
}

function matcherOf({ key, operator, values }: LabelRequirement): string {
  const label = labelName(key);
  switch (operator) {
    case 'notin':
      return `${label}!~${anyOf(values)}`;
    case 'exists':
      return `${label}!=""`;
    case '!':
      return `${label}=""`;
    case 'in':
      return `${label}=~${anyOf(values)}`;
    default:
      return equal(label, values[0] ?? '');
  }
}

export const isLabelName = (name: string) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name);

function labelName(name: string): string {
  if (isLabelName(name)) return name;
  throw new MetricFailure(`${JSON.stringify(name)} is not the name of a label in Prometheus`);
}

/** Prometheus accepts the escapes of JSON. */
const quoted = (text: string) => JSON.stringify(text);

const equal = (label: string, value: string) => `${label}=${quoted(value)}`;

const anyOf = (values: readonly string[]) =>
  quoted(values.map((value) => value.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')).join('|'));

/** Returns the reason why the text is not a valid administrator's query, or undefined if it is valid. */
export function queryProblem(query: string): string | undefined {
  const outside = query.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/gs, '""');
  const all = query.split(placeholder).length - 1;
  const inBraces = [...outside.matchAll(/(?<=[{,]\s*)\$selector(?=\s*[,}])/g)].length;
  if (all === 0)
    return `it needs ${placeholder} in the braces of each series, such as requests{${placeholder}}`;
  return all === inBraces
    ? undefined
    : `${placeholder} may stand only in the braces of a series, as {${placeholder}}`;
}
