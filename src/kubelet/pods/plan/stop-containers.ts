/**
 * The order of stopping containers: the preStop hook runs, the stop signal is sent, and the container is
 * killed when its grace period is over. Sidecars are stopped once the containers that may need them have
 * ended, the last sidecar first (upstream: killContainer, terminationOrdering).
 */
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import type { Draft } from './draft.ts';
import { stopHook } from './hooks.ts';

/**
 * Minimum time between the request to stop and the kill, however much of the grace period has passed before.
 * A grace period of zero means no wait.
 */
const minMs = 2000;

interface Known {
  readonly memory: PodMemory;
  readonly now: number;
}

/**
 * Plans the stops. `graceOf` returns the grace period in seconds, which begins with the first plan that stops
 * the container.
 */
export function planStops(
  running: readonly ContainerState[],
  graceOf: (container: ContainerState) => number,
  why: string,
  known: Known,
  plan: Draft,
): void {
  for (const container of running) {
    const { stopTurn = 0 } = container;
    const isTurn = !running.some((other) => other.stopTurn !== undefined && other.stopTurn < stopTurn);
    planStop(container, { graceSeconds: graceOf(container), why, isTurn }, known, plan);
  }
}

interface Stop {
  readonly graceSeconds: number;
  readonly why: string;
  /** Message of the event, where it contains more than `why`. */
  readonly message?: string;
  /** True when no other container must end before this one. */
  readonly isTurn: boolean;
}

/** Plans the next step of a stop, and another plan for when the step after it is due. */
export function planStop(
  container: ContainerState,
  { graceSeconds, why, message, isTurn }: Stop,
  { memory, now }: Known,
  plan: Draft,
): void {
  const { id, name } = container;
  const announced = { id, name, why, ...(message !== undefined && { message }) };
  const signaledAt = memory.stopping.get(id);
  const began = stopBegan(memory, id);
  const end = (began ?? now) + graceSeconds * 1000;
  const hook = stopHook(container, memory);
  const mustWait = signaledAt === undefined && (hook !== undefined || !isTurn);
  if (!mustWait || end <= now) {
    planSignal(container, graceSeconds, end, { announced, signaledAt, now }, plan);
    return;
  }
  if (began === undefined) plan.add({ type: 'beginStop', ...announced });
  if (hook && hook !== 'running') plan.add(hook);
  plan.wakeIn(end - now);
}

const stopBegan = ({ stopBegan: began, stopping }: PodMemory, id: string) =>
  began.get(id) ?? stopping.get(id);

interface StopRequest {
  readonly announced: Pick<Stop, 'why'> & {
    readonly id: string;
    readonly name: string;
    readonly message?: string;
  };
  /**
   * Time at which the stop signal was sent, in milliseconds since the epoch; undefined if it was not sent
   * yet.
   */
  readonly signaledAt: number | undefined;
  readonly now: number;
}

/** Plans the stop signal or the kill of a container whose preStop hook has ended and whose turn has come. */
function planSignal(
  { id, name }: ContainerState,
  graceSeconds: number,
  end: number,
  { announced, signaledAt, now }: StopRequest,
  plan: Draft,
): void {
  const killAt = graceSeconds === 0 ? end : Math.max(end, (signaledAt ?? now) + minMs);
  if (killAt <= now) {
    plan.add({ type: 'killContainer', id, name });
    return;
  }
  if (signaledAt === undefined) plan.add({ type: 'terminateContainer', ...announced });
  plan.wakeIn(killAt - now);
}
