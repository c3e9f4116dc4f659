/** Number of instances that a gateway requests. Pure, except for the records of the meter. */
import type { Fn } from '../api/function.ts';
import type { LoadMeter } from './load-meter.ts';

export interface Demand {
  readonly instances: number;
  /** Milliseconds after which the demand must be computed again; undefined if only a call can change it. */
  readonly again: number | undefined;
}

/** Part of the window in which a rise is detected early: the panic window of other autoscalers. */
const earlyPart = 0.1;
const minEarlyMs = 1000;
const lookMs = 1000;

/**
 * Returns the demand: at least as many instances as all calls in progress need, and at least as many as the
 * metric requires. A demand is held for a window, and the last instance is removed when nothing was called
 * for the idle time.
 */
export function demandOf(spec: Fn['spec'], load: LoadMeter, now: number): Demand {
  const { windowSeconds = 30, idleSeconds = 60, target = 1, concurrency, metric, maxScale } = spec;
  const idleMs = idleSeconds * 1000;
  const idleFor = load.idleFor(now);
  if (idleFor >= idleMs) return { instances: 0, again: undefined };
  const needed = Math.ceil(load.underWay / concurrency);
  const followed =
    metric === 'Requests'
      ? load.begun(now) / target
      : load.average(Math.min(windowSeconds * 1000, early(windowSeconds)), now) / target;
  const wanted = Math.min(maxScale, Math.max(1, needed, Math.ceil(followed)));
  const instances = metric === 'Requests' ? wanted : load.most(wanted, now);
  const rest = idleFor > 0 ? Math.min(lookMs, idleMs - idleFor) : lookMs;
  return { instances, again: rest };
}

const early = (windowSeconds: number) => Math.max(minEarlyMs, windowSeconds * 1000 * earlyPart);
