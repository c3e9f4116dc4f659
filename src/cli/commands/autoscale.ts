/** `ctl autoscale`: creates a HorizontalPodAutoscaler for a resource with a scale. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { canonicalQuantity, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { withConfig } from '../create/write-made.ts';
import { type DryRun, dryRunOf, dryRunSuffix, type Flags, type FlagTable } from '../flags/flags.ts';
import {
  fieldManagerOf,
  managerFlag,
  saveConfigFlag,
  writeFlags,
  writeQuery,
} from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import { type ApiResource, findResource, kindName } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { madeFormat, typedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flags = {
  min: { type: 'string', hint: 'PODS', about: 'the lowest number of pods', usual: '1' },
  max: { type: 'string', hint: 'PODS', about: 'the highest number of pods; required' },
  cpu: {
    type: 'string',
    hint: 'PERCENT%|QUANTITY',
    about: 'target CPU of the pods: a share of their requests, such as 70%, or an average, such as 500m',
    usual: '80%',
  },
  memory: {
    type: 'string',
    hint: 'PERCENT%|QUANTITY',
    about: 'target memory of the pods: a share of their requests, such as 70%, or an average, such as 200Mi',
  },
  'cpu-percent': {
    type: 'string',
    hint: 'PERCENT',
    about: 'target CPU of the pods in percent of their requests; newer scripts use --cpu',
  },
  name: {
    type: 'string',
    hint: 'NAME',
    about: 'name of the HorizontalPodAutoscaler',
    usual: 'name of the workload',
  },
  ...writeFlags,
  ...managerFlag,
  ...saveConfigFlag,
} as const satisfies FlagTable;

export const autoscale: Verb = {
  about: 'create a HorizontalPodAutoscaler for a workload',
  group: 'Deploy Commands',
  words: ['TYPE NAME --max=PODS', 'TYPE/NAME --max=PODS', '-f FILE --max=PODS'],
  flags,
  examples: [
    'ctl autoscale deployment web --min=2 --max=10 --cpu=80% # keep the CPU usage near 80%',
    'ctl autoscale deployment web --max=8 --cpu=500m --memory=200Mi # keep averages of pods',
  ],
  async run(context) {
    const { flags: given } = context;
    const limits = limitsOf(given);
    requireSelection(given);
    // An unknown format is an error before anything is created.
    await typedFormat(context);
    const making = { limits, dryRun: dryRunOf(given) };
    const cluster = context.cluster();
    const version = limits.metrics.length > 0 ? 'v2' : 'v1';
    const autoscalers = findResource(
      await cluster.resources(),
      `horizontalpodautoscalers.${version}.autoscaling`,
    );
    await forEachReported(context, await resolveObjects(context), (target) =>
      autoscaleOne(context, autoscalers, target, making),
    );
  },
};

interface Making {
  readonly limits: Limits;
  readonly dryRun: DryRun;
}

/** Makes the autoscaler of one object and prints it. */
async function autoscaleOne(
  { flags, io, cluster: clusterOf }: VerbContext,
  autoscalers: ApiResource,
  target: ObjectTarget,
  { limits, dryRun }: Making,
): Promise<void> {
  const cluster = clusterOf();
  if (!target.resource.subresources.includes('scale'))
    throw new Error(`cannot autoscale a ${target.resource.kind}: it has no replicas`);
  // An autoscaler for an object that does not exist is most likely a typing error.
  if (!target.manifest) await cluster.get(targetPath(target));
  const name = flags.text('name') || target.name;
  const object = withConfig(
    autoscalerOf(target, name, limits),
    flags.on('save-config') && dryRun !== 'client',
  );
  const path =
    collectionPath(autoscalers, target.namespace) + writeQuery(dryRun, undefined, fieldManagerOf(flags));
  const done = dryRun === 'client' ? 'created' : 'autoscaled';
  const message = `${kindName(autoscalers)}/${name} ${done}${dryRunSuffix[dryRun]}\n`;
  if (dryRun === 'client') return io.out(madeFormat(flags)?.(object) ?? message);
  const made = await cluster.send('POST', path, object);
  // Each object has a format of its own: as in kubectl, no line separates the documents of YAML.
  const format = await typedFormat({ io, flags });
  io.out(format?.(made) ?? message);
}

interface Limits {
  readonly min: number | undefined;
  readonly max: number;
  readonly cpuPercent: number | undefined;
  /** Metrics of --cpu and --memory, for version 2 of autoscalers. */
  readonly metrics: readonly JsonObject[];
}

/** Returns the bounds and the target. A negative number counts as absent, as in kubectl. */
function limitsOf(given: Flags): Limits {
  const [min = -1, max = -1, percent = -1] = [
    given.whole('min'),
    given.whole('max'),
    given.whole('cpu-percent'),
  ];
  if (max < 1)
    throw new UsageError(`ctl autoscale: --max=MAXPODS is required and must be at least 1, max: ${max}`);
  if (max < min)
    throw new UsageError(
      `ctl autoscale: --max=MAXPODS must be larger or equal to --min=MINPODS, max: ${max}, min: ${min}`,
    );
  if (percent > 0 && given.text('cpu'))
    throw new UsageError('ctl autoscale: --cpu-percent and --cpu are mutually exclusive');
  const metrics = (['cpu', 'memory'] as const).flatMap((name) => {
    const text = given.text(name)?.trim();
    return text ? [metricOf(name, text)] : [];
  });
  const cpuPercent = percent >= 0 ? percent : undefined;
  if (metrics.length > 0 && cpuPercent !== undefined) metrics.unshift(metricOf('cpu', `${cpuPercent}%`));
  return { min: min > 0 ? min : undefined, max, cpuPercent, metrics };
}

const units = { cpu: 'm', memory: 'Mi' } as const;

/** Returns the metric of a target: a share with `%`, else an average; a plain number has a small unit. */
function metricOf(name: keyof typeof units, text: string): JsonObject {
  const percent = /^(\d+)%$/.exec(text)?.[1];
  if (percent === undefined && text.endsWith('%'))
    throw new UsageError(`ctl autoscale: invalid percentage value: ${text.slice(0, -1)}`);
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
  const amount = isNumber ? `${Number(text)}${units[name]}` : text;
  if (percent === undefined && tryParseQuantity(amount) === undefined)
    throw new UsageError(`ctl autoscale: invalid resource ${name} value: ${text}`);
  const target =
    percent === undefined
      ? { type: 'AverageValue', averageValue: canonicalQuantity(amount) }
      : { type: 'Utilization', averageUtilization: Number(percent) };
  return { type: 'Resource', resource: { name, target } };
}

/**
 * Returns the autoscaler in kubectl's form: fields in the order of Go's types, also empty ones. Without
 * metrics it has version 1, which kubectl wrote until 1.33.
 */
const autoscalerOf = (
  { resource, name: target }: ObjectTarget,
  name: string,
  { min, max, cpuPercent, metrics }: Limits,
): JsonObject => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: `autoscaling/${metrics.length > 0 ? 'v2' : 'v1'}`,
  metadata: metrics.length > 0 ? { name } : { name, creationTimestamp: null },
  spec: {
    scaleTargetRef: { kind: resource.kind, name: target, apiVersion: apiVersionOf(resource) },
    ...(min !== undefined && { minReplicas: min }),
    maxReplicas: max,
    ...(metrics.length > 0 && { metrics }),
    ...(metrics.length === 0 && cpuPercent !== undefined && { targetCPUUtilizationPercentage: cpuPercent }),
  },
  status:
    metrics.length > 0
      ? { desiredReplicas: 0, currentMetrics: null }
      : { currentReplicas: 0, desiredReplicas: 0 },
});
