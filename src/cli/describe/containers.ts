/** Containers of a pod or of a pod template. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { numberAt, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { environmentLines } from './environment.ts';
import { amountLines, none, sorted, stringsAt, timeText } from './lines.ts';
import { probeText } from './probes.ts';

export interface ContainerContext {
  readonly statuses: readonly JsonObject[];
  /** The pod itself; absent for a template, whose containers stand one column further right. */
  readonly pod?: JsonObject;
}

export function containerLines(
  title: string,
  containers: readonly JsonObject[],
  { statuses, pod }: ContainerContext,
): string[] {
  const indent = pod ? '' : ' ';
  return [
    `${indent}${indent}${title}:${containers.length === 0 ? ` ${none}` : ''}`,
    ...containers.flatMap((container) => {
      const name = textAt(container, 'name');
      const status = statuses.find((one) => textAt(one, 'name') === name);
      return [
        `  ${indent}${name}:`,
        ...imageLines(container, status),
        ...commandLines('Command', stringsAt(container, 'command')),
        ...commandLines('Args', stringsAt(container, 'args')),
        ...(status ? statusLines(status) : []),
        ...resourceLines(recordAt(container, 'resources'), '    '),
        ...probeLines(container),
        ...environmentLines(container, pod),
        ...mountLines(container),
      ];
    }),
  ];
}

function imageLines(container: JsonObject, status: JsonObject | undefined): string[] {
  const ports = recordsAt(container, 'ports');
  const joined = (field: string) =>
    ports.map((port) => `${numberAt(port, field)}/${textAt(port, 'protocol')}`).join(', ');
  const plural = ports.length > 1 ? 's' : '';
  const seccomp = recordAt(container, 'securityContext', 'seccompProfile');
  return [
    ...(status ? [`    Container ID:\t${textAt(status, 'containerID')}`] : []),
    `    Image:\t${textAt(container, 'image')}`,
    ...(status ? [`    Image ID:\t${textAt(status, 'imageID')}`] : []),
    `    Port${plural}:\t${joined('containerPort') || none}`,
    `    Host Port${plural}:\t${joined('hostPort') || none}`,
    ...(seccomp.type ? [`    SeccompProfile:\t${textAt(seccomp, 'type')}`] : []),
    ...(seccomp.type === 'Localhost'
      ? [`      LocalhostProfile:\t${textAt(seccomp, 'localhostProfile')}`]
      : []),
  ];
}

const commandLines = (title: string, words: readonly string[]): string[] =>
  words.length === 0
    ? []
    : [`    ${title}:`, ...words.flatMap((word) => word.split('\n').map((line) => `      ${line}`))];

function statusLines(status: JsonObject): string[] {
  const last = recordAt(status, 'lastState');
  return [
    ...stateLines('State', recordAt(status, 'state')),
    ...(isRecord(last.terminated) ? stateLines('Last State', last) : []),
    `    Ready:\t${status.ready === true ? 'True' : 'False'}`,
    `    Restart Count:\t${numberAt(status, 'restartCount')}`,
  ];
}

function stateLines(title: string, state: JsonObject): string[] {
  const { running, terminated, waiting } = state;
  if (isRecord(running))
    return [`    ${title}:\tRunning`, `      Started:\t${timeText(textAt(running, 'startedAt'))}`];
  if (isRecord(terminated)) return [`    ${title}:\tTerminated`, ...terminatedLines(terminated)];
  const reason = textAt(waiting, 'reason');
  const message = textAt(waiting, 'message');
  return [
    `    ${title}:\tWaiting`,
    ...(reason ? [`      Reason:\t${reason}`] : []),
    // kubectl leaves out the message, although it says why the container waits.
    ...(message ? [`      Message:\t${message.replaceAll('\n', ' ')}`] : []),
  ];
}

const terminatedLines = (terminated: JsonObject): string[] => [
  ...(terminated.reason ? [`      Reason:\t${textAt(terminated, 'reason')}`] : []),
  ...(terminated.message ? [`      Message:\t${textAt(terminated, 'message')}`] : []),
  `      Exit Code:\t${numberAt(terminated, 'exitCode')}`,
  ...(numberAt(terminated, 'signal') > 0 ? [`      Signal:\t${numberAt(terminated, 'signal')}`] : []),
  `      Started:\t${timeText(textAt(terminated, 'startedAt'))}`,
  `      Finished:\t${timeText(textAt(terminated, 'finishedAt'))}`,
];

/** Returns limits and requests, each indented two columns further. */
export const resourceLines = (resources: JsonObject, indent: string): string[] =>
  (['Limits', 'Requests'] as const).flatMap((title) => {
    const amounts = recordAt(resources, title.toLowerCase());
    if (Object.keys(amounts).length === 0) return [];
    return [`${indent}${title}:`, ...amountLines(amounts, `${indent}  `)];
  });

const probeLines = (container: JsonObject): string[] =>
  (['Liveness', 'Readiness', 'Startup'] as const).flatMap((title) => {
    const probe = container[`${title.toLowerCase()}Probe`];
    return isRecord(probe) ? [`    ${title}:\t${probeText(probe)}`] : [];
  });

function mountLines(container: JsonObject): string[] {
  const mounts = recordsAt(container, 'volumeMounts').map((mount) => {
    const subPath = textAt(mount, 'subPath');
    const mode = mount.readOnly === true ? 'ro' : 'rw';
    const flags = subPath ? `${mode},path=${JSON.stringify(subPath)}` : mode;
    return `${textAt(mount, 'mountPath')} from ${textAt(mount, 'name')} (${flags})`;
  });
  const devices = recordsAt(container, 'volumeDevices').map(
    (device) => `${textAt(device, 'devicePath')} from ${textAt(device, 'name')}`,
  );
  const missing = mounts.length === 0 ? `\t${none}` : '';
  return [
    `    Mounts:${missing}`,
    ...sorted(mounts).map((line) => `      ${line}`),
    ...(devices.length > 0 ? ['    Devices:', ...sorted(devices).map((line) => `      ${line}`)] : []),
  ];
}
