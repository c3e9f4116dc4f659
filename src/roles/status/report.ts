/** The report of `minik8s status`, for people and as JSON. Pure. */
import { humanDuration } from '../../apimachinery/age.ts';
import { TableWriter } from '../../cli/printers/table-writer.ts';
import type { LogPlace } from '../running/run-record.ts';
import {
  faultsOf,
  healthOf,
  isReplaced,
  type Known,
  type NodeCounts,
  nextSteps,
  type PodCounts,
  type RunningFacts,
} from './facts.ts';

type Line = readonly [name: string, text: string];

const mebibyte = 2 ** 20;

/** Returns the report of one process. `now` is in milliseconds since the epoch. */
export function reportText(facts: RunningFacts, now: number): string {
  const faults = faultsOf(facts);
  const state =
    faults.length === 0
      ? 'running, healthy'
      : `running, not healthy (${faults.length} fault${faults.length === 1 ? '' : 's'})`;
  const table = new TableWriter().format(linesOf(facts, now).map(([name, text]) => [`  ${name}`, text]));
  const problems = faults.map((fault) => `  ! ${fault}\n`).join('');
  return `minik8s ${facts.role}: ${state}\n${table}${problems}${stepsText(nextSteps(facts))}`;
}

/** Returns the commands to type next, in one column, and what they do, in another. */
export const stepsText = (steps: readonly (readonly [string, string])[]): string =>
  steps.length === 0
    ? ''
    : `next:\n${new TableWriter().format(steps.map(([command, about]) => [`  ${command}`, `# ${about}`]))}`;

function linesOf(facts: RunningFacts, now: number): readonly Line[] {
  const { api, nodes, pods, engine, server, certificate } = facts;
  return [
    ['process', processText(facts, now)],
    ['version', versionText(facts)],
    ...placeLines(facts),
    ...(api ? ([['API', `${server ?? ''} ${shown(api, (value) => value)}`.trim()]] as const) : []),
    ...(nodes ? ([['nodes', shown(nodes, nodesText)]] as const) : []),
    ...(pods ? ([['pods', shown(pods, podsText)]] as const) : []),
    ...(engine ? ([['engine', shown(engine, (version) => `Docker ${version}`)]] as const) : []),
    ...etcdLine(facts),
    ...(certificate
      ? ([
          [
            'certificates',
            `the next one ends on ${certificate.notAfter.slice(0, 10)}, in ${certificate.daysLeft} days: ${certificate.path}`,
          ],
        ] as const)
      : []),
  ];
}

function placeLines({ dataDir, configFile, log, kubeconfig }: RunningFacts): readonly Line[] {
  const places: readonly (readonly [string, string | undefined])[] = [
    ['data', dataDir ?? 'only root may see it: sudo minik8s status'],
    ['config', configFile],
    ['log', log && logText(log)],
    ['kubeconfig', kubeconfig],
  ];
  return places.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

const etcdLine = ({ etcdBytes }: RunningFacts): readonly Line[] =>
  etcdBytes === undefined ? [] : [['etcd', `${(etcdBytes / mebibyte).toFixed(1)} MiB on disk`]];

function processText({ pid, service, startedAt }: RunningFacts, now: number): string {
  const since =
    startedAt === undefined ? '' : `, since ${startedAt} (${humanDuration(now - Date.parse(startedAt))})`;
  return `${pid}${service === undefined ? '' : ` of ${service.manager === 'openrc' ? 'the service ' : ''}${service.name}`}${since}`;
}

function versionText({ version, fileVersion, executable }: RunningFacts): string {
  const file = executable === undefined ? '' : `, ${executable.replace(/ \(deleted\)$/, '')}`;
  if (version === undefined) return `unknown${file}`;
  return isReplaced(version, fileVersion)
    ? `${version}${file}, which is now version ${fileVersion}: a restart runs it`
    : `${version}${file}`;
}

/** Returns the place of a log in words. */
export function logText(log: LogPlace): string {
  if (log.kind === 'journal') return `journal of ${log.unit} (minik8s logs)`;
  if (log.kind === 'elsewhere') return `${log.what}; --log-file FILE keeps it`;
  return log.kind === 'file' ? `${log.path} (not rotated; --log-file is)` : log.path;
}

const shown = <T>(known: Known<T>, text: (value: T) => string): string =>
  'value' in known ? text(known.value) : `unknown: ${known.problem}`;

const nodesText = ({ ready, total }: NodeCounts) => `${ready} of ${total} ready`;

const podsText = ({ running, total, isPartial }: PodCounts) =>
  `${running} of ${total} running${isPartial ? ', and more that were not counted' : ''}`;

/** Returns a JSON document of all processes. */
export const reportJson = (all: readonly RunningFacts[]): string =>
  `${JSON.stringify(
    {
      running: all.length > 0,
      health:
        all.length === 0
          ? 'not running'
          : all.every((one) => healthOf(one) === 'healthy')
            ? 'healthy'
            : 'unhealthy',
      processes: all.map((facts) => ({
        ...facts,
        health: healthOf(facts),
        faults: faultsOf(facts),
        next: nextSteps(facts).map(([command]) => command),
      })),
    },
    undefined,
    2,
  )}\n`;
