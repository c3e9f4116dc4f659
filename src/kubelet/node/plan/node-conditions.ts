/** The conditions of a node (pkg/kubelet/nodestatus/setters.go). */
import { timedCondition } from '../../../apimachinery/conditions.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Pressure } from './eviction-thresholds.ts';

export interface NodeHealth {
  /** The reason why no pod can run here; undefined when pods can. */
  readonly problem: string | undefined;
  /**
   * True for each resource that the node is short of. Undefined when it could not be measured; `unmeasured`
   * then has the reason.
   */
  readonly pressures: Readonly<Record<Pressure, boolean>> | undefined;
  readonly unmeasured?: string | undefined;
  readonly reported: ReportedConditions;
  readonly now: number;
}

/** Conditions that other parts of the node report, by type and without times; null removes one. */
export type ReportedConditions = Readonly<Record<string, Condition | null>>;

interface Words {
  readonly yes: readonly [reason: string, message: string];
  readonly no: readonly [reason: string, message: string];
}

const words: Readonly<Record<Pressure, Words>> = {
  MemoryPressure: {
    yes: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    no: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  DiskPressure: {
    yes: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    no: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  PIDPressure: {
    yes: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    no: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
};

type Untimed = Omit<Condition, 'lastHeartbeatTime' | 'lastTransitionTime'>;

/** Returns the agent's own conditions, and those that other components wrote. */
export function nodeConditions(health: NodeHealth, previous: readonly Condition[]): Condition[] {
  const { problem, reported, now } = health;
  const pressures = (Object.keys(words) as Pressure[]).map((type) => pressureCondition(type, health));
  const ready: Untimed =
    problem === undefined
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: problem };
  const own = [...Object.values(reported).filter((one) => one !== null), ...pressures, ready];
  const others = previous.filter(
    ({ type }) => !Object.hasOwn(reported, type) && !own.some((condition) => condition.type === type),
  );
  const time = rfc3339(now);
  const timed = own.map((condition) => ({
    ...timedCondition(previous, condition, time),
    lastHeartbeatTime: time,
  }));
  return [...others, ...timed];
}

function pressureCondition(type: Pressure, { pressures, unmeasured = '' }: NodeHealth): Untimed {
  if (!pressures) {
    return { type, status: 'Unknown', reason: 'KubeletCannotMeasure', message: unmeasured };
  }
  const [reason, message] = pressures[type] ? words[type].yes : words[type].no;
  return { type, status: pressures[type] ? 'True' : 'False', reason, message };
}

/**
 * Returns the reasons of events for changes of a node that was known before: NodeReady, NodeHasDiskPressure.
 */
export function changeEvents(before: readonly Condition[], after: readonly Condition[]): string[] {
  const [was, is] = [before, after].map((list) => list.find(({ type }) => type === 'Ready')?.status);
  const changed = was !== undefined && is !== undefined && was !== is;
  return [
    ...pressures.flatMap((type) => pressureEvent(type, before, after) ?? []),
    ...(changed ? [is === 'True' ? 'NodeReady' : 'NodeNotReady'] : []),
  ];
}

const pressures: readonly Pressure[] = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Returns the reason of the event for a change, such as NodeHasDiskPressure; undefined without a change. */
function pressureEvent(
  type: Pressure,
  before: readonly Condition[],
  after: readonly Condition[],
): string | undefined {
  const [was, is] = [before, after].map((list) => list.find((condition) => condition.type === type)?.status);
  if (is === was || is === 'Unknown' || is === undefined || (was === undefined && is === 'False'))
    return undefined;
  const [reason] = is === 'True' ? words[type].yes : words[type].no;
  return reason.replace('Kubelet', 'Node');
}
