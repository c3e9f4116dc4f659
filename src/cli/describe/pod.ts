/** Pods. Pure. */
import { ageSince } from '../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { containerLines, resourceLines } from './containers.ts';
import type { Describer } from './describer.ts';
import {
  controlledByLines,
  labelLines,
  labelsAndAnnotations,
  none,
  optionalLine,
  shownAt,
  timeText,
} from './lines.ts';
import { spreadLines, tolerationLines } from './placement.ts';
import { volumeLines } from './volumes.ts';

export const pod: Describer = {
  lines: (object, _related, now) => [
    ...identityLines(object),
    ...labelsAndAnnotations(object),
    ...stateLines(object, now),
    ...addressLines(object),
    ...controlledByLines(object),
    ...optionalLine('NominatedNodeName', textAt(object, 'status', 'nominatedNodeName')),
    ...(isRecord(valueAt(object, 'spec', 'resources'))
      ? ['Resources:', ...resourceLines(recordAt(object, 'spec', 'resources'), '  ')]
      : []),
    ...allContainers(object),
    ...gateLines(object),
    ...podConditions(object),
    ...volumeLines(recordsAt(object, 'spec', 'volumes'), ''),
    `QoS Class:\t${textAt(object, 'status', 'qosClass')}`,
    ...labelLines('Node-Selectors', recordAt(object, 'spec', 'nodeSelector')),
    ...tolerationLines(recordsAt(object, 'spec', 'tolerations'), ''),
    ...spreadLines(recordsAt(object, 'spec', 'topologySpreadConstraints'), ''),
  ],
};

function identityLines(object: JsonObject): string[] {
  const { name, namespace } = metadataOf(object);
  const node = textAt(object, 'spec', 'nodeName');
  const started = textAt(object, 'status', 'startTime');
  return [
    `Name:\t${name}`,
    `Namespace:\t${namespace}`,
    ...optionalLine('Priority', shownAt(object, 'spec', 'priority')),
    ...optionalLine('Priority Class Name', textAt(object, 'spec', 'priorityClassName')),
    ...optionalLine('Runtime Class Name', textAt(object, 'spec', 'runtimeClassName')),
    ...optionalLine('Service Account', textAt(object, 'spec', 'serviceAccountName')),
    `Node:\t${node ? `${node}/${textAt(object, 'status', 'hostIP')}` : none}`,
    ...(started ? [`Start Time:\t${timeText(started)}`] : []),
  ];
}

function stateLines(object: JsonObject, now: number): string[] {
  const phase = textAt(object, 'status', 'phase');
  const { deletionTimestamp } = metadataOf(object);
  const ending = deletionTimestamp && phase !== 'Failed' && phase !== 'Succeeded';
  const seccomp = recordAt(object, 'spec', 'securityContext', 'seccompProfile');
  return [
    ...(ending
      ? [
          `Status:\tTerminating (lasts ${ageSince(deletionTimestamp, now)})`,
          `Termination Grace Period:\t${shownAt(object, 'metadata', 'deletionGracePeriodSeconds')}s`,
        ]
      : [`Status:\t${phase}`]),
    ...optionalLine('Reason', textAt(object, 'status', 'reason')),
    ...optionalLine('Message', textAt(object, 'status', 'message')),
    ...optionalLine('SeccompProfile', textAt(seccomp, 'type')),
    ...(seccomp.type === 'Localhost' ? [`LocalhostProfile:\t${textAt(seccomp, 'localhostProfile')}`] : []),
  ];
}

function addressLines(object: JsonObject): string[] {
  const addresses = recordsAt(object, 'status', 'podIPs');
  return [
    `IP:\t${textAt(object, 'status', 'podIP')}`,
    ...(addresses.length === 0
      ? [`IPs:\t${none}`]
      : ['IPs:', ...addresses.map((address) => `  IP:\t${textAt(address, 'ip')}`)]),
  ];
}

function allContainers(object: JsonObject): string[] {
  const lines = (title: string, field: string) =>
    containerLines(title, recordsAt(object, 'spec', field), {
      statuses: recordsAt(object, 'status', statusFields[field] ?? ''),
      pod: object,
    });
  const some = (title: string, field: string) =>
    recordsAt(object, 'spec', field).length > 0 ? lines(title, field) : [];
  return [
    ...some('Init Containers', 'initContainers'),
    ...lines('Containers', 'containers'),
    ...some('Ephemeral Containers', 'ephemeralContainers'),
  ];
}

const statusFields: Readonly<Record<string, string>> = {
  initContainers: 'initContainerStatuses',
  containers: 'containerStatuses',
  ephemeralContainers: 'ephemeralContainerStatuses',
};

function gateLines(object: JsonObject): string[] {
  const gates = recordsAt(object, 'spec', 'readinessGates').map(({ conditionType }) => String(conditionType));
  if (gates.length === 0) return [];
  const conditions = recordsAt(object, 'status', 'conditions');
  const statusOf = (gate: string) =>
    textAt(
      conditions.find(({ type }) => type === gate),
      'status',
    ) || none;
  return ['Readiness Gates:', '  Type\tStatus', ...gates.map((gate) => `  ${gate} \t${statusOf(gate)} `)];
}

/** Returns type and status of each condition. */
function podConditions(object: JsonObject): string[] {
  const conditions = recordsAt(object, 'status', 'conditions');
  if (conditions.length === 0) return [];
  return [
    'Conditions:',
    '  Type\tStatus',
    ...conditions.map((one) => `  ${textAt(one, 'type')} \t${textAt(one, 'status')} `),
  ];
}
