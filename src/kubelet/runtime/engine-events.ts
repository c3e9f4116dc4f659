/** Events of the engine about the containers and sandboxes of one owner. */
import type { Clock } from '../../base/clock.ts';
import { call, untilAborted } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { jsonLines } from '../../docker/streams.ts';
import { labels } from './docker-labels.ts';
import type { OomKills } from './oom-kills.ts';
import type { RuntimeEvent } from './runtime.ts';

interface EngineEvent {
  readonly Action: string;
  readonly Actor: { readonly ID: string; readonly Attributes: Readonly<Record<string, string>> };
}

export interface EngineEventsOptions {
  readonly owner: string;
  readonly clock: Clock;
  /** Records the containers that the engine reports as out of memory. */
  readonly oomKills: OomKills;
}

const watched = ['start', 'die', 'destroy', 'oom'];

/**
 * Yields events until the signal aborts; throws RuntimeError when the engine cannot be reached. `onReady` is
 * called once no later event can be missed. Earlier reports of containers that ran out of memory are read
 * first: Docker keeps its last 256 events.
 */
export async function* engineEvents(
  docker: Docker,
  { owner, clock, oomKills }: EngineEventsOptions,
  signal: AbortSignal,
  onReady: () => void,
): AsyncIterable<RuntimeEvent> {
  const open = async (event: readonly string[], period: object) => {
    const options: Docker.GetEventsOptions & { abortSignal: AbortSignal } = {
      ...period,
      filters: { type: ['container'], event: [...event], label: [`${labels.owner}=${owner}`] },
      abortSignal: signal,
    };
    const stream = (await call('watch', () => docker.getEvents(options))) as AsyncIterable<Uint8Array>;
    return jsonLines(untilAborted(stream, signal)) as AsyncIterable<EngineEvent>;
  };
  const events = await open(watched, {});
  // Docker treats the time 0 as absent, so the oldest possible time is 1.
  const past = { since: 1, until: (clock.now() / 1000).toFixed(3) };
  for await (const { Actor } of await open(['oom'], past)) oomKills.add(Actor.ID);
  onReady();
  for await (const { Action, Actor } of events) {
    if (Action === 'oom') oomKills.add(Actor.ID);
    yield { id: Actor.ID, kind: Actor.Attributes[labels.role] === 'sandbox' ? 'sandbox' : 'container' };
  }
}
