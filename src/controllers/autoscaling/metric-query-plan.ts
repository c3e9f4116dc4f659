/**
 * The query in Prometheus' language for a metric of pods, of an object or from outside. What an autoscaler says can only narrow what is
 * asked for: every name and value stands in a quoted text, and the namespace is the autoscaler's own. Pure.
 */
import type { MetricIdentifier, MetricSpec } from '../../api/autoscaling/v2/types.gen.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { type LabelRequirement, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import { MetricFailure } from './replicas-plan.ts';

/** What the administrator wants to be asked for a metric of this name. */
export interface OwnQuery {
  readonly metric: string;
  /** With `$selector` between braces, for what the autoscaler asks for. */
  readonly query: string;
  /** Whether it asks for the series of all namespaces. */
  readonly allNamespaces: boolean;
}

export interface MetricQueries {
  /** How the series name the namespace and the pod that they tell of. */
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

interface Asking {
  readonly namespace: string;
  /** Those that the target selects, as `podsMatcher` writes them. */
  readonly pods: string;
  /** Such as `service` for the kind Service. */
  readonly singularOf: (kind: string) => string;
}

/** The part of a query that names pods. */
export const podsMatcher = (pods: readonly Pod[], { labels }: MetricQueries): string =>
  `${labels.pod}=~${anyOf(pods.map(({ metadata }) => metadata.name))}`;

/** Whether Prometheus is asked for it. */
export const isOutside = ({ type, pods, object, external }: MetricSpec): boolean =>
  (type === 'Pods' && pods !== undefined) ||
  (type === 'Object' && object !== undefined) ||
  (type === 'External' && external !== undefined);

/** Of a metric that `isOutside`; throws MetricFailure. */
export function queryOf(metric: MetricSpec, asking: Asking, queries: MetricQueries): string {
  const { labels } = queries;
  const here = equal(labels.namespace, asking.namespace);
  const { pods, object, external } = metric;
  if (metric.type === 'Pods' && pods) {
    const where = [here, asking.pods];
    return written(pods.metric, where, queries.pods, (series) => `sum by (${labels.pod}) (${series})`);
  }
  if (metric.type === 'Object' && object) {
    const { kind, name } = object.describedObject;
    const where = kind === 'Namespace' ? [here] : [here, equal(labelName(asking.singularOf(kind)), name)];
    return written(object.metric, where, queries.objects, (series) => `sum(${series})`);
  }
  if (metric.type === 'External' && external) {
    const own = queries.external.find(({ metric: name }) => name === external.metric.name);
    const where = own?.allNamespaces ? [] : [here];
    return written(external.metric, where, queries.external, (series) => `sum(${series})`);
  }
  throw new MetricFailure(`metrics of type ${metric.type} are not asked for`);
}

/** Every series has it, as no label is an empty one. */
const everything = 'namespace=~".*"';

function written(
  { name, selector }: MetricIdentifier,
  where: readonly string[],
  own: readonly OwnQuery[],
  usual: (series: string) => string,
): string {
  const asked = selector ? selectorFromLabelSelector(selector).requirements.map(matcherOf) : [];
  const matchers = [...where, ...asked];
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
  throw new MetricFailure(`${JSON.stringify(name)} is no name of a label in Prometheus`);
}

/** Prometheus reads the escapes of JSON. */
const quoted = (text: string) => JSON.stringify(text);

const equal = (label: string, value: string) => `${label}=${quoted(value)}`;

const anyOf = (values: readonly string[]) =>
  quoted(values.map((value) => value.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')).join('|'));

/** Why the text cannot be the query of an administrator; undefined when it can. */
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
