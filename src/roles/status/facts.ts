/** Facts about one minik8s of this machine, and what they mean. Pure. */
import type { Role } from '../../installation/plan/role.ts';
import { type Service, serviceCommand } from '../../installation/plan/service-manager.ts';
import type { LogPlace } from '../running/run-record.ts';

/** A value, or the reason why it is unknown. */
export type Known<T> = { readonly value: T } | { readonly problem: string };

export interface NodeCounts {
  readonly ready: number;
  readonly total: number;
  /** Name and reason of each node that is not Ready. */
  readonly notReady: readonly string[];
}

export interface PodCounts {
  readonly running: number;
  readonly total: number;
  /** True if the list was too long to be read in time: there are more pods. */
  readonly isPartial: boolean;
}

export interface CertificateEnd {
  readonly path: string;
  /** RFC 3339. */
  readonly notAfter: string;
  readonly daysLeft: number;
}

export interface RunningFacts {
  readonly role: Role;
  readonly pid: number;
  readonly service?: Service;
  readonly dataDir?: string;
  /** RFC 3339. */
  readonly startedAt?: string;
  readonly version?: string;
  readonly executable?: string;
  /** Version of the executable file as it is now. */
  readonly fileVersion?: string;
  readonly configFile?: string;
  readonly log?: LogPlace;
  readonly kubeconfig?: string;
  readonly server?: string;
  /** Absent if this user has no credentials to ask with. */
  readonly api?: Known<'ready'>;
  readonly nodes?: Known<NodeCounts>;
  readonly pods?: Known<PodCounts>;
  /** Absent for a master alone, which needs no engine. */
  readonly engine?: Known<string>;
  /** Size of the database of the embedded etcd, in bytes. */
  readonly etcdBytes?: number;
  /** The certificate that expires first. */
  readonly certificate?: CertificateEnd;
}

/** Exit statuses of `minik8s status`, as for the init scripts of the Linux Standard Base. */
export const exitStatuses = { healthy: 0, unhealthy: 1, notRunning: 3 } as const;

/** Returns one sentence for each fault; none if it is healthy. */
export function faultsOf({ api, nodes, engine, certificate }: RunningFacts): readonly string[] {
  const problem = problemOf(api);
  const silent = problem === undefined ? problemOf(nodes) : undefined;
  const engineProblem = problemOf(engine);
  return [
    ...(problem === undefined ? [] : [`the API server is not ready: ${problem}`]),
    ...(engineProblem === undefined ? [] : [`the Docker engine does not answer: ${engineProblem}`]),
    ...(nodes && 'value' in nodes ? nodes.value.notReady.map((node) => `node ${node}`) : []),
    ...(silent === undefined ? [] : [`the nodes are unknown: ${silent}`]),
    ...(certificate && certificate.daysLeft < 0
      ? [`the certificate ${certificate.path} expired on ${certificate.notAfter}`]
      : []),
  ];
}

const problemOf = (known: Known<unknown> | undefined): string | undefined =>
  known && 'problem' in known ? known.problem : undefined;

type Step = readonly [command: string, about: string];

/** Returns the commands to type next, each with what it does. */
export function nextSteps(facts: RunningFacts): readonly Step[] {
  const { dataDir, version, fileVersion, kubeconfig, role } = facts;
  const [own, config] = isUsual(dataDir)
    ? ['', '']
    : [` --data-dir ${dataDir}`, kubeconfig === undefined ? '' : ` --kubeconfig ${kubeconfig}`];
  const restart = isReplaced(version, fileVersion) ? [restartStep(facts, own)] : [];
  if (faultsOf(facts).length > 0)
    return [
      [`minik8s doctor${own}`, 'find the cause and how to mend it'],
      [`minik8s logs${own} --level warn --since 1h`, 'print its warnings and errors'],
      ...restart,
    ];
  const pods: readonly Step[] =
    role === 'node' ? [] : [[`minik8s ctl${config} get pods -A`, 'list the pods']];
  return [...restart, ...pods, [`minik8s logs${own} -f`, 'follow its log']];
}

const restartStep = ({ service }: RunningFacts, own: string): Step =>
  service === undefined
    ? [`minik8s stop${own}`, 'then start it again, to run the new file']
    : [serviceCommand(service, 'restart'), 'run the new file'];

const isUsual = (dataDir: string | undefined) => dataDir === undefined || dataDir === '/var/lib/minik8s';

/** Returns true if the file holds another version than the process runs. */
export const isReplaced = (version: string | undefined, fileVersion: string | undefined): boolean =>
  version !== undefined && fileVersion !== undefined && version !== fileVersion;

export const healthOf = (facts: RunningFacts): 'healthy' | 'unhealthy' =>
  faultsOf(facts).length > 0 ? 'unhealthy' : 'healthy';
