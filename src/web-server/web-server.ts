/**
 * Keeps the node's web server at what its fronts ask for. A front turns one kind of object into sites; all
 * fronts share one server, because only one can listen on a port. The server runs only while a front has
 * something to serve.
 */
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { keepDoing, type Wake } from '../base/keep-doing.ts';
import type { Nginx, Served } from './nginx.ts';

export interface FrontPlan extends Served {
  /** False if no object of this front exists. */
  readonly isNeeded: boolean;
}

export interface Front {
  plan(): Promise<FrontPlan>;
  /** Called after every round that succeeded, even if nothing has changed. */
  served(isNeeded: boolean, result: FrontResult): void;
  /** Called after every round that failed. */
  failed(error: unknown): void;
}

export interface FrontResult {
  readonly httpsProblem?: string;
  /** Hosts of any front whose routes nginx rejects. */
  readonly refused: readonly string[];
}

export interface WebServerOptions {
  readonly clock: Clock;
  readonly nginx: Pick<Nginx, 'serve' | 'remove'>;
  /** Called by the fronts after a change. */
  readonly wake: Wake;
  /** In the order of their precedence: a host belongs to the first front that has it. */
  readonly fronts: readonly Front[];
}

/** The engine restarts the container by itself; its removal by another program triggers no event here. */
const lookAgainMs = 60_000;
const retry = { initialMs: 500, maxMs: 30_000 };

/**
 * Runs until the signal aborts; the web server keeps running. Call it when the fronts' informers have synced.
 */
export async function runWebServer(options: WebServerOptions, signal: AbortSignal): Promise<void> {
  const { clock, wake, nginx, fronts } = options;
  const onError = (error: unknown) => {
    for (const front of fronts) front.failed(error);
  };
  const turns = { wake, restMs: lookAgainMs, backoff: new Backoff(retry), wakesRetry: true, onError };
  await keepDoing({ clock, signal, ...turns }, async () => {
    const plans = await Promise.all(fronts.map((front) => front.plan()));
    const isNeeded = plans.some((plan) => plan.isNeeded);
    if (!isNeeded) await nginx.remove();
    const result = isNeeded ? await nginx.serve(together(plans)) : { refused: [] };
    for (const [index, front] of fronts.entries()) front.served(plans[index]?.isNeeded ?? false, result);
  });
}

/** Returns what all fronts serve together. */
export function together(plans: readonly Served[]): Served {
  const hosts = new Set<string>();
  const sites = plans
    .flatMap((plan) => plan.sites)
    .filter(({ host }) => {
      const isFree = !hosts.has(host);
      hosts.add(host);
      return isFree;
    });
  return {
    sites: sites.toSorted((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : 0)),
    certificates: new Map(plans.flatMap(({ certificates }) => [...certificates])),
    wantsTls: plans.some(({ wantsTls }) => wantsTls),
  };
}
