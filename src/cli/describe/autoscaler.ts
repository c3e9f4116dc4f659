/** Horizontal pod autoscalers (autoscaling/v2). Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import {
  amountText,
  conditionLines,
  createdLine,
  headLines,
  selectorOrNone,
  shownAt,
  shownOrUnset,
  unset,
} from './lines.ts';

export const horizontalPodAutoscaler: Describer = {
  apiVersion: 'autoscaling/v2',
  lines(object) {
    const spec = recordAt(object, 'spec');
    const kind = textAt(spec, 'scaleTargetRef', 'kind');
    const currents = recordsAt(object, 'status', 'currentMetrics');
    const of = (field: string) => numberAt(object, 'status', field);
    return [
      ...headLines(object),
      createdLine(object),
      `Reference:\t${kind}/${textAt(spec, 'scaleTargetRef', 'name')}`,
      'Metrics:\t( current / target )',
      ...recordsAt(spec, 'metrics').map((metric, index) => `  ${metricText(metric, currents[index])}`),
      `Min replicas:\t${shownOrUnset(spec, 'minReplicas')}`,
      `Max replicas:\t${shownAt(spec, 'maxReplicas')}`,
      ...(isRecord(spec.behavior)
        ? [
            'Behavior:',
            ...behaviorLines('Scale Up', spec.behavior.scaleUp),
            ...behaviorLines('Scale Down', spec.behavior.scaleDown),
          ]
        : []),
      `${kind} pods:\t${of('currentReplicas')} current / ${of('desiredReplicas')} desired`,
      ...conditionLines(object, [
        ['Type', 'type'],
        ['Status', 'status'],
        ['Reason', 'reason'],
        ['Message', 'message'],
      ]),
    ];
  },
};

const unknown = '<unknown>';

function metricText(metric: JsonObject, current: JsonObject | undefined): string {
  const type = textAt(metric, 'type');
  const field = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  const source = recordAt(metric, field);
  const status = valueAt(current, field, 'current');
  const values: Values = {
    now: isRecord(status) ? status : undefined,
    target: recordAt(source, 'target'),
  };
  const name = textAt(source, 'metric', 'name');
  switch (type) {
    case 'External':
      return `${JSON.stringify(name)} ${valueText(values)}`;
    case 'Pods':
      return `${JSON.stringify(name)} on pods:\t${pairText(values, 'averageValue')}`;
    case 'Object': {
      const on = `${textAt(source, 'describedObject', 'kind')}/${textAt(source, 'describedObject', 'name')}`;
      return `"${name}" on ${on} ${valueText(values)}`;
    }
    case 'Resource':
      return `resource ${textAt(source, 'name')} on pods${usageText(values)}`;
    case 'ContainerResource':
      return `resource ${textAt(source, 'name')} of container "${textAt(source, 'container')}" on pods${usageText(values)}`;
    default:
      return `<unknown metric type ${JSON.stringify(type)}>`;
  }
}

interface Values {
  /** Absent before the first measurement. */
  readonly now: JsonObject | undefined;
  readonly target: JsonObject;
}

function pairText({ now, target }: Values, field: 'value' | 'averageValue'): string {
  const current = now?.[field] === undefined ? unknown : amountText(now[field]);
  return `${current} / ${amountText(target[field])}`;
}

const valueText = (values: Values): string =>
  values.target.averageValue === undefined
    ? `(target value):\t${pairText(values, 'value')}`
    : `(target average value):\t${pairText(values, 'averageValue')}`;

function usageText(values: Values): string {
  const { now, target } = values;
  if (target.averageValue !== undefined) return `:\t${pairText(values, 'averageValue')}`;
  const percent = shownAt(now, 'averageUtilization');
  const current = percent ? `${percent}% (${amountText(now?.averageValue)})` : unknown;
  const wanted = shownAt(target, 'averageUtilization');
  return `  (as a percentage of request):\t${current} / ${wanted ? `${wanted}%` : '<auto>'}`;
}

function behaviorLines(title: string, rules: unknown): string[] {
  if (!isRecord(rules)) return [];
  const window = shownAt(rules, 'stabilizationWindowSeconds');
  const policies = recordsAt(rules, 'policies').map(
    (policy) =>
      `      - Type: ${textAt(policy, 'type')}\tValue: ${shownAt(policy, 'value')}\tPeriod: ${shownAt(policy, 'periodSeconds')} seconds`,
  );
  return [
    `  ${title}:`,
    ...(window ? [`    Stabilization Window: ${window} seconds`] : []),
    ...(policies.length > 0
      ? [`    Select Policy: ${textAt(rules, 'selectPolicy') || 'Max'}`, '    Policies:', ...policies]
      : []),
  ];
}

export const podDisruptionBudget: Describer = {
  lines(object) {
    const { name, namespace } = metadataOf(object);
    const [least, most] = [
      shownAt(object, 'spec', 'minAvailable'),
      shownAt(object, 'spec', 'maxUnavailable'),
    ];
    const of = (field: string) => numberAt(object, 'status', field);
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      ...(least ? [`Min available:\t${least}`] : most ? [`Max unavailable:\t${most}`] : []),
      `Selector:\t${isRecord(valueAt(object, 'spec', 'selector')) ? selectorOrNone(recordAt(object, 'spec', 'selector')) : unset}`,
      'Status:',
      `    Allowed disruptions:\t${of('disruptionsAllowed')}`,
      `    Current:\t${of('currentHealthy')}`,
      `    Desired:\t${of('desiredHealthy')}`,
      `    Total:\t${of('expectedPods')}`,
    ];
  },
};
