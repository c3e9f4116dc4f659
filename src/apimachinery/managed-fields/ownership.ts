/**
 * Who owns which fields after a write, and what an applied configuration makes of an object: the rules of server-side
 * apply, as structured-merge-diff has them (merge/update.go). Pure.
 */
import { deepEqual } from '../equality.ts';
import type { Steps } from '../steps.ts';
import { type Comparison, compare } from './compare.ts';
import { FieldSet, hasAll, touches } from './field-set.ts';
import { fieldsOf, withAtomicFields, withNamedParents, withoutFields } from './fields-of.ts';
import { ApplyConflicts, idOf, type Manager, type Managers, sinceThen, withFields } from './managers.ts';
import { merge } from './merge.ts';
import { compareTexts } from './path-element.ts';
import type { Shape } from './shape.ts';

/** A version in which a kind is served. */
export interface TypeVersion {
  readonly apiVersion: string;
  readonly shape: Shape;
  /** Fields that writers of this resource, or subresource, cannot set: nobody owns them by such a write. */
  readonly reset?: FieldSet | undefined;
  /** From the version that `Versions` are told of, and back. */
  convert(object: unknown): unknown;
  revert(object: unknown): unknown;
}

/** Undefined for a version that is served no more: its managers are forgotten. */
export type Versions = (apiVersion: string) => TypeVersion | undefined;

export type Writer = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

interface Changed {
  readonly managers: Map<string, Manager>;
  readonly comparison: Comparison;
}

/**
 * After a write that is no apply and that replaced `live` by `next`, both in the version of the writer: who writes has what it
 * changed, since `now` (RFC 3339). Of that `without` is nobody's. Throws a KeyError.
 */
export function afterUpdate(
  live: unknown,
  next: unknown,
  managers: Managers,
  writer: Writer,
  versions: Versions,
  now: string,
  without: FieldSet,
): Map<string, Manager> {
  const version = known(versions, writer.apiVersion);
  const id = idOf(writer);
  const { managers: after, comparison } = takeOver(live, next, version, managers, id, versions, true);
  const own = after.get(id);
  // What it changes it has again.
  if (own) leave(after, id, own, nothing, comparison.removed, version);
  const taken = comparison.modified.union(comparison.added).difference(without);
  if (taken.isEmpty) return after;
  const mine = after.get(id);
  if (mine?.written && hasAll(mine.written, taken)) after.set(id, sinceThen(mine, now));
  else after.set(id, withFields({ ...writer, time: now }, mine ? mine.fields.union(taken) : taken));
  return after;
}

export interface Applied {
  /** In the writer's version; undefined when nothing has changed. What has lost all that was in it is null. */
  readonly object: unknown;
  readonly managers: Map<string, Manager>;
}

/** In steps. Throws ApplyConflicts unless forced, and a KeyError for a configuration whose lists have no keys. */
export function* applyConfiguration(
  live: unknown,
  configuration: unknown,
  managers: Managers,
  writer: Writer,
  versions: Versions,
  force: boolean,
): Steps<Applied> {
  const version = known(versions, writer.apiVersion);
  const { shape } = version;
  const id = idOf(writer);
  const before = reconciled(managers, versions);
  const last = before.get(id);
  const applied = fieldsOf(configuration, shape, 'once');
  yield;
  const merged = merge(live, configuration, shape);
  yield;
  const fields = version.reset ? applied.without(version.reset) : applied;
  const { manager, operation, apiVersion, subresource } = writer;
  before.set(id, withFields({ manager, operation, apiVersion, subresource, time: last?.time }, fields));
  const object =
    last && !last.fields.isEmpty ? yield* prune(merged, before, last, version, versions) : merged;
  yield;
  const { managers: after } = takeOver(live, object, version, before, id, versions, force);
  yield;
  return { object: deepEqual(live, object) ? undefined : object, managers: after };
}

/** Throws an Error for a version that is not served. */
export function known(versions: Versions, apiVersion: string): TypeVersion {
  const version = versions(apiVersion);
  if (!version) throw new Error(`${apiVersion} is not served`);
  return version;
}

/** Of versions that are served, with what has become atomic since. */
function reconciled(managers: Managers, versions: Versions): Map<string, Manager> {
  const kept = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const version = versions(manager.apiVersion);
    if (version) kept.set(id, withFields(manager, withAtomicFields(manager.fields, version.shape)));
  }
  return kept;
}

/** Takes from all but the writer what was changed; throws ApplyConflicts when it may not. */
function takeOver(
  live: unknown,
  next: unknown,
  version: TypeVersion,
  managers: Managers,
  writer: string | undefined,
  versions: Versions,
  force: boolean,
): Changed {
  const comparison = compare(live, next, version.shape, version.reset);
  const comparisons = new Map([[version.apiVersion, comparison]]);
  const comparedIn = (other: TypeVersion): Comparison => {
    const made =
      comparisons.get(other.apiVersion) ??
      compare(inVersion(live, version, other), inVersion(next, version, other), other.shape, other.reset);
    comparisons.set(other.apiVersion, made);
    return made;
  };
  const after = new Map<string, Manager>();
  const conflicts: { manager: Manager; fields: FieldSet }[] = [];
  for (const [id, manager] of managers) {
    const theirs = versions(manager.apiVersion);
    if (!theirs) continue;
    if (id === writer) {
      if (manager.written || !manager.fields.isEmpty) after.set(id, manager);
      continue;
    }
    const { added, modified, removed } = comparedIn(theirs);
    const lost = leave(after, id, manager, modified.union(added), removed, theirs);
    if (!lost.isEmpty) conflicts.push({ manager, fields: lost });
  }
  if (!force && conflicts.length > 0)
    throw new ApplyConflicts(
      conflicts
        .sort((a, b) => compareTexts(idOf(a.manager), idOf(b.manager)))
        .flatMap(({ manager, fields }) => [...fields.paths()].map((path) => ({ manager, path }))),
    );
  return { managers: after, comparison };
}

/** Leaves a manager what was not changed, and returns what it lost by that; one that has nothing left is forgotten. */
function leave(
  managers: Map<string, Manager>,
  id: string,
  manager: Manager,
  changed: FieldSet,
  removed: FieldSet,
  { shape }: TypeVersion,
): FieldSet {
  const { written } = manager;
  if (
    written &&
    Object.keys(written).length > 0 &&
    !touches(written, changed) &&
    !touches(written, removed)
  ) {
    managers.set(id, manager);
    return nothing;
  }
  const before = withAtomicFields(manager.fields, shape);
  const lost = before.intersection(changed);
  const fields = before.difference(lost).difference(removed);
  if (fields.isEmpty) managers.delete(id);
  else managers.set(id, withFields(manager, fields));
  return lost;
}

const nothing = new FieldSet();

const inVersion = (object: unknown, from: TypeVersion, to: TypeVersion): unknown =>
  from.apiVersion === to.apiVersion ? object : to.convert(from.revert(object));

/** Without what the writer applied last time and does not now, unless somebody else has it. */
function* prune(
  merged: unknown,
  managers: Managers,
  last: Manager,
  version: TypeVersion,
  versions: Versions,
): Steps<unknown> {
  const then = versions(last.apiVersion);
  if (!then) return merged;
  const before = inVersion(merged, version, then);
  let pruned = withoutFields(before, withNamedParents(last.fields, then.shape), then.shape);
  yield;
  pruned = yield* withOwned(before, pruned, then, managers, versions);
  yield;
  return inVersion(withUnowned(before, pruned, last.fields, then), then, version);
}

/** With what others own, and what the writer applies now. */
function* withOwned(
  merged: unknown,
  pruned: unknown,
  then: TypeVersion,
  managers: Managers,
  versions: Versions,
): Steps<unknown> {
  const owned = Map.groupBy(managers.values(), ({ apiVersion }) => apiVersion);
  // First in the version in which it was pruned: what that needs to be converted is there again then.
  const order = [...owned].sort(([a], [b]) => Number(b === then.apiVersion) - Number(a === then.apiVersion));
  let left = pruned;
  for (const [apiVersion, theirs] of order) {
    const version = versions(apiVersion);
    if (!version) continue;
    const { shape } = version;
    const fields = FieldSet.union(theirs.map((manager) => manager.fields));
    const whole = inVersion(merged, then, version);
    const all = withNamedParents(fieldsOf(whole, shape), shape);
    yield;
    const kept = withNamedParents(fieldsOf(inVersion(left, then, version), shape), shape);
    yield;
    const gone = all.difference(kept.union(withNamedParents(fields, shape)));
    left = inVersion(withoutFields(whole, gone, shape), version, then);
  }
  return left;
}

/** With what nobody applied: only what the writer had is taken away. */
function withUnowned(merged: unknown, pruned: unknown, last: FieldSet, { shape }: TypeVersion): unknown {
  const kept = withNamedParents(fieldsOf(pruned, shape), shape);
  const all = withNamedParents(fieldsOf(merged, shape), shape);
  return withoutFields(merged, all.difference(kept).intersection(withNamedParents(last, shape)), shape);
}
