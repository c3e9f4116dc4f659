/**
 * Queries to Prometheus for pod, object and external metrics that replace the default queries
 * (--prometheus-queries).
 */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import {
  isLabelName,
  type MetricQueries,
  queryProblem,
  usualQueries,
} from '../../controllers/autoscaling/metric-query-plan.ts';

const flag = '--prometheus-queries';

const labelShape = v.pipe(v.string(), v.check(isLabelName, 'expected the name of a label in Prometheus'));

const queryShape = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? queryProblem(dataset.value) : undefined;
    if (problem !== undefined) addIssue({ message: problem });
  }),
);

const own = { metric: v.pipe(v.string(), v.minLength(1)), query: queryShape };
const here = v.pipe(
  v.strictObject(own),
  v.transform((one) => ({ ...one, allNamespaces: false })),
);
const anywhere = v.strictObject({ ...own, allNamespaces: v.optional(v.boolean(), false) });
const unique = <const S extends v.GenericSchema<unknown, { readonly metric: string }>>(shape: S) =>
  v.optional(
    v.pipe(
      v.array(shape),
      v.check(
        (all) => new Set(all.map(({ metric }) => metric)).size === all.length,
        'a metric is listed twice',
      ),
    ),
    [],
  );

const fileShape = v.strictObject({
  apiVersion: v.literal('minik8s.io/v1'),
  kind: v.literal('MetricQueries'),
  labels: v.optional(
    v.strictObject({
      namespace: v.optional(labelShape, usualQueries.labels.namespace),
      pod: v.optional(labelShape, usualQueries.labels.pod),
    }),
    {},
  ),
  pods: unique(here),
  objects: unique(here),
  external: unique(anywhere),
});

/** Throws UsageError that names the file and the invalid field. */
export async function readMetricQueries(path: string): Promise<MetricQueries> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${path} (${errorMessage(error)})`);
  }
  return parseMetricQueries(text, path);
}

export function parseMetricQueries(text: string, path: string): MetricQueries {
  let value: unknown;
  try {
    ({ value } = parseYaml(text));
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new UsageError(`${flag}: ${path}: ${error.message}`);
  }
  const result = v.safeParse(fileShape, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const field = v.getDotPath(issue) ?? '';
  throw new UsageError(`${flag}: ${path}: ${field && `${field}: `}${issue.message}`);
}
