/** Checks a history: no acknowledged write lost, no event missed or repeated, no stale read. Pure. */
import type { History, ReadRecord, SeenEvent, Sight, WriteRecord } from './history.ts';

/** Name of the object that all writers change; every other object has one writer. */
export const sharedName = 'shared';

/** Returns one sentence for each fault; none for a correct history. */
export function faultsOf(history: History): readonly string[] {
  const events = union(history.sights);
  const facts: Facts = { ...history, events, byName: groupBy(events, ({ name }) => name) };
  return [
    ...history.sights.flatMap((sight) => orderFaults(sight)),
    ...history.sights.flatMap((sight) => missedFaults(sight, facts)),
    ...lostFaults(facts),
    ...unexplainedFaults(facts),
    ...chainFaults(facts),
    ...refusalFaults(facts),
    ...timeFaults(facts),
    ...readFaults(facts),
    ...listFaults(facts),
  ];
}

interface Facts extends History {
  /** Events of all watches, once each, by revision. */
  readonly events: readonly SeenEvent[];
  readonly byName: ReadonlyMap<string, readonly SeenEvent[]>;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}

const textOf = ({ type, name, value, revision }: SeenEvent) => `${type} ${name} ${value} at ${revision}`;
const writeText = ({ verb, name, value }: WriteRecord) => `${verb} ${name} ${value ?? ''}`.trimEnd();
const isEvent = ({ type }: SeenEvent) => type !== 'BOOKMARK';

function union(sights: readonly Sight[]): readonly SeenEvent[] {
  const byRevision = new Map<number, SeenEvent>();
  for (const { events } of sights)
    for (const event of events.filter(isEvent))
      if (!byRevision.has(event.revision)) byRevision.set(event.revision, event);
  return [...byRevision.values()].sort((a, b) => a.revision - b.revision);
}

/** Revisions of a watch only grow; a bookmark promises that everything up to it was sent. */
function orderFaults({ watcher, from, events }: Sight): string[] {
  let last = from;
  return events.flatMap((event) => {
    const isLate = event.type === 'BOOKMARK' ? event.revision < last : event.revision <= last;
    const fault = isLate ? [`${watcher}: repeated or late: ${textOf(event)}, after revision ${last}`] : [];
    last = Math.max(last, event.revision);
    return fault;
  });
}

function missedFaults({ watcher, from, events }: Sight, { events: all, end }: Facts): string[] {
  const seen = new Map(events.filter(isEvent).map((event) => [event.revision, event]));
  return all
    .filter(({ revision }) => revision > from && revision <= end)
    .flatMap((event) => {
      const own = seen.get(event.revision);
      if (own === undefined) return [`${watcher}: missed: ${textOf(event)}`];
      return textOf(own) === textOf(event) ? [] : [`${watcher}: ${textOf(own)}, others: ${textOf(event)}`];
    });
}

/** Every acknowledged write has an event, of the revision in its answer. */
function lostFaults({ writes, byName }: Facts): string[] {
  const isThere = ({ verb, name, value, revision }: WriteRecord) =>
    (byName.get(name) ?? []).some((event) =>
      verb === 'delete' ? event.type === 'DELETED' : event.revision === revision && event.value === value,
    );
  return writes
    .filter((write) => write.outcome === 'acknowledged' && !isThere(write))
    .map((write) => `acknowledged write lost: ${writeText(write)} at ${write.revision ?? '?'}`);
}

/** Every event is from one write that was not rejected, and no write has two events. */
function unexplainedFaults({ writes, events }: Facts): string[] {
  const byKey = groupBy(writes, keyOfWrite);
  const counts = new Map<string, number>();
  return events.flatMap((event) => {
    const key = event.type === 'DELETED' ? `- ${event.name}` : `+ ${event.name} ${event.value}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count > 1) return [`made twice: ${textOf(event)}`];
    const made = (byKey.get(key) ?? []).filter(({ outcome }) => outcome !== 'refused');
    return made.length > 0 ? [] : [`never sent, or refused: ${textOf(event)}`];
  });
}

const keyOfWrite = ({ verb, name, value }: WriteRecord) =>
  verb === 'delete' ? `- ${name}` : `+ ${name} ${value}`;

/**
 * Every event of an object follows the event of the revision that its write required; nothing follows a
 * deletion.
 */
function chainFaults({ writes, byName }: Facts): string[] {
  const byKey = groupBy(writes, keyOfWrite);
  return [...byName.values()].flatMap((events) =>
    events.flatMap((event, index) => {
      const before = events[index - 1];
      if (before === undefined) return event.type === 'ADDED' ? [] : [`begins with ${textOf(event)}`];
      const key = event.type === 'DELETED' ? `- ${event.name}` : `+ ${event.name} ${event.value}`;
      const required = (byKey.get(key) ?? []).map(({ basedOn }) => basedOn);
      const follows = before.type !== 'DELETED' && required.includes(before.revision);
      return follows ? [] : [`${textOf(event)} follows ${textOf(before)}, required: ${required.join()}`];
    }),
  );
}

/** A write of an object with one writer is only rejected after a write whose outcome was unknown. */
function refusalFaults({ writes }: Facts): string[] {
  const doubtful = new Set<string>();
  return writes.flatMap((write) => {
    if (write.outcome === 'unknown') doubtful.add(write.name);
    const isWrong = write.outcome === 'refused' && write.name !== sharedName && !doubtful.has(write.name);
    return isWrong ? [`refused without another writer: ${writeText(write)}`] : [];
  });
}

/** A write that was sent after another was acknowledged has the higher revision. */
function timeFaults({ writes, events }: Facts): string[] {
  const byValue = new Map(writes.flatMap((write) => (write.value ? [[write.value, write] as const] : [])));
  let earliest: WriteRecord | undefined;
  return events.toReversed().flatMap((event) => {
    const write = event.type === 'DELETED' ? undefined : byValue.get(event.value);
    if (write === undefined) return [];
    const later = earliest;
    if (
      write.outcome === 'acknowledged' &&
      write.answeredAt < (later?.answeredAt ?? Number.POSITIVE_INFINITY)
    )
      earliest = write;
    return later !== undefined && later.answeredAt < write.sentAt
      ? [`${writeText(write)} has a lower revision than ${writeText(later)}, which was answered before`]
      : [];
  });
}

/** A read returns every write that was acknowledged before the read was sent. */
function readFaults({ reads, writes }: Facts): string[] {
  const byName = groupBy(writes, ({ name }) => name);
  return reads.flatMap((read) => {
    const own = byName.get(read.name) ?? [];
    const before = own.filter(
      ({ outcome, answeredAt }) => outcome === 'acknowledged' && answeredAt <= read.sentAt,
    );
    const least = Math.max(0, ...before.map(({ revision }) => revision ?? 0));
    if (read.revision !== undefined && before.some(({ verb }) => verb === 'delete'))
      return [`stale read: ${read.name} was deleted, and is read at ${read.revision}`];
    if (read.revision === undefined ? mayBeAbsent(read, own) : read.revision >= least) return [];
    return [`stale read: ${read.name} at ${read.revision ?? 'none'}, acknowledged before: ${least}`];
  });
}

const mayBeAbsent = (read: ReadRecord, own: readonly WriteRecord[]) =>
  own.some(({ verb, sentAt }) => verb === 'delete' && sentAt <= read.answeredAt) ||
  !own.some(
    ({ verb, outcome, answeredAt }) =>
      verb === 'create' && outcome === 'acknowledged' && answeredAt <= read.sentAt,
  );

/** Every master lists the objects as the last events left them. */
function listFaults({ lists, byName }: Facts): string[] {
  const last = [...byName.values()].flatMap((events) => events.at(-1) ?? []);
  const wanted = new Set(
    last.filter(({ type }) => type !== 'DELETED').map(({ name, value }) => `${name} ${value}`),
  );
  return lists.flatMap((list, index) => {
    const listed = new Set([...list].map(([name, value]) => `${name} ${value}`));
    const missing = [...wanted].filter((one) => !listed.has(one));
    const extra = [...listed].filter((one) => !wanted.has(one));
    return [
      ...missing.map((one) => `list ${index} lacks ${one}`),
      ...extra.map((one) => `list ${index} has ${one}, of which there was no event`),
    ];
  });
}
