/** `ctl describe function`: its program, build, instances and last error. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Describer, Found, Related } from '../../../cli/describe/describer.ts';
import {
  createdLine,
  headLines,
  none,
  optionalLine,
  pairsText,
  reasonLines,
  shownAt,
  sorted,
  tableLines,
} from '../../../cli/describe/lines.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt } from '../../../cli/objects/objects.ts';
import { causeLine } from '../api/failure.ts';
import { functionLabel } from '../api/function-instance.ts';
import { countLines } from './call-counts.ts';

export const functionDescriber: Describer = {
  needs(object) {
    const { name, namespace } = metadataOf(object);
    const version = textAt(object, 'status', 'latestVersion');
    return {
      calls: { metrics: '/metrics', labels: { namespace, function: name } },
      instances: { apiVersion: 'v1', kind: 'Pod', namespace, labelSelector: `${functionLabel}=${name}` },
      ...(version && {
        version: { apiVersion: 'minik8s.io/v1', kind: 'FunctionVersion', namespace, name: version },
      }),
    };
  },
  lines: (object, related) => [
    ...headLines(object),
    createdLine(object),
    ...programLines(object, related),
    ...callLines(object, related('calls')),
    ...scaleLines(object),
    ...instanceLines(related),
    ...lastErrorLines(object, related),
    ...reasonLines(object),
  ],
};

function programLines(object: JsonObject, related: Related): string[] {
  const spec = recordAt(object, 'spec');
  const [version] = related('version').items;
  const [latest, active] = ['latestVersion', 'activeVersion'].map((one) => textAt(object, 'status', one));
  const files = sorted([
    ...Object.keys(recordAt(spec, 'files')),
    ...Object.keys(recordAt(spec, 'binaryFiles')),
  ]);
  return [
    ...optionalLine('Runtime', textAt(spec, 'runtime')),
    ...(spec.image === undefined ? [`Handler:\t${textAt(spec, 'handler') || 'main.handler'}`] : []),
    ...(files.length > 0 ? [`Files:\t${files.join(', ')}`] : []),
    `Image:\t${textAt(spec, 'image') || textAt(version, 'spec', 'image') || none}`,
    `Version Called:\t${active || none}`,
    ...(latest !== active ? [`Version Of The Spec:\t${latest || none}`] : []),
    ...(spec.image === undefined
      ? [`Build:\t${buildText(related('version'), metadataOf(object).name)}`]
      : []),
    ...environmentLines(spec),
  ];
}

/** Returns the state of the newest build, with its node. */
function buildText({ items: [version], refused }: Found, name: string): string {
  if (refused !== undefined) return refused;
  const built = recordsAt(version, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Built');
  const node = textAt(version, 'status', 'nodeName');
  const where = node && ` on node ${node}`;
  if (built === undefined) return `not begun${where}`;
  if (textAt(built, 'status') === 'True') return `succeeded${where}`;
  const reason = textAt(built, 'reason') || 'not done';
  return `${reason}${where}; minik8s ctl function logs ${name} --build prints its log`;
}

const environmentLines = (spec: JsonObject): string[] => {
  // Values from Secrets are not shown: only the names of the variables are.
  const names = recordsAt(spec, 'env').map((one) => textAt(one, 'name'));
  return names.length > 0 ? [`Environment:\t${names.join(', ')}`] : [];
};

function callLines(object: JsonObject, calls: Found): string[] {
  const { name, namespace } = metadataOf(object);
  const spec = recordAt(object, 'spec');
  const timeout = shownAt(spec, 'timeoutSeconds');
  return [
    'Calls:',
    `  URL:\tPOST /apis/minik8s.io/v1/namespaces/${namespace}/functions/${name}/invoke`,
    `  Callers:\t${spec.public === true ? 'anyone' : 'users who may create functions/invoke'}`,
    `  Timeout:\t${timeout}s`,
    `  At Once:\t${shownAt(spec, 'concurrency')} for each instance`,
    ...countLines(calls),
  ];
}

function scaleLines(object: JsonObject): string[] {
  const [spec, status] = [recordAt(object, 'spec'), recordAt(object, 'status')];
  const metric = textAt(spec, 'metric') || 'Concurrency';
  const target = shownAt(spec, 'target');
  return [
    'Scale:',
    `  Instances:\t${numberAt(status, 'replicas')} (${numberAt(status, 'readyReplicas')} can be called)`,
    `  Limits:\t${shownAt(spec, 'minScale')} to ${shownAt(spec, 'maxScale')}`,
    `  By:\t${metric}${target && `, ${target} for each instance`}`,
    `  Last Removed After:\t${shownAt(spec, 'idleSeconds')}s without a call`,
    // Each gateway requests the instances that its own calls need.
    `  Requested By Gateways:\t${pairsText(recordAt(status, 'demand'))}`,
  ];
}

function instanceLines(related: Related): string[] {
  const { items, refused } = related('instances');
  if (refused !== undefined) return [`Instances:\t${refused}`];
  const rows = items.map((pod) => [
    metadataOf(pod).name,
    textAt(pod, 'spec', 'nodeName') || none,
    waitingReason(pod) || textAt(pod, 'status', 'phase'),
    String(
      recordsAt(pod, 'status', 'containerStatuses').reduce(
        (sum, one) => sum + numberAt(one, 'restartCount'),
        0,
      ),
    ),
  ]);
  return tableLines('Instances', ['Pod', 'Node', 'Status', 'Restarts'], rows);
}

const waitingReason = (pod: JsonObject) =>
  recordsAt(pod, 'status', 'containerStatuses')
    .map((one) => textAt(one, 'state', 'waiting', 'reason'))
    .find(Boolean) ?? '';

/** Returns why the function cannot be called, or how its last instance failed. */
function lastErrorLines(object: JsonObject, related: Related): string[] {
  const ready = recordsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready');
  const message = textAt(ready, 'status') === 'False' ? textAt(ready, 'message') : '';
  const ended = related('instances').items.flatMap((pod) =>
    recordsAt(pod, 'status', 'containerStatuses').flatMap((one) => {
      const last = recordAt(one, 'lastState', 'terminated');
      const code = numberAt(last, 'exitCode');
      return code === 0 ? [] : [`${metadataOf(pod).name} ended with exit status ${code}`];
    }),
  );
  return [`Last Error:\t${message ? causeLine(message) : (ended[0] ?? none)}`];
}
