/**
 * The owners of fields after a write, and the object that results from an applied configuration: the rules of
 * server-side apply, as in structured-merge-diff (merge/update.go). Pure.
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

/** A served version of a kind. */
export interface TypeVersion {
  readonly apiVersion: string;
  readonly shape: Shape;
  /**
   * Fields that a write to this resource or subresource cannot set, so that the write does not make its
   * author their owner.
   */
  readonly reset?: FieldSet | undefined;
  /** Converts an object from the common version of `Versions` to this version; `revert` converts it back. */
  convert(object: unknown): unknown;
  revert(object: unknown): unknown;
}

/** Returns undefined for a version that is no longer served: its managers are removed. */
export type Versions = (apiVersion: string) => TypeVersion | undefined;

export type Writer = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

interface Changed {
  readonly managers: Map<string, Manager>;
  readonly comparison: Comparison;
}

/**
 * Returns the managers after a write other than an apply, which replaced `live` with `next`; both are in the
 * writer's version. The writer owns what it changed, since `now` (RFC 3339), except for the fields of
 * `without`. Throws a KeyError.
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
  // Fields that the writer changes are added to its fields again below.
  if (own) leave(after, id, own, nothing, comparison.removed, version);
  const taken = comparison.modified.union(comparison.added).difference(without);
  if (taken.isEmpty) return after;
  const mine = after.get(id);
  if (mine?.written && hasAll(mine.written, taken)) after.set(id, sinceThen(mine, now));
  else after.set(id, withFields({ ...writer, time: now }, mine ? mine.fields.union(taken) : taken));
  return after;
}

export interface Applied {
  /**
   * The object in the writer's version; undefined when nothing has changed. A part that has become empty is
   * null.
   */
  readonly object: unknown;
  readonly managers: Map<string, Manager>;
}

/**
 * Applies a configuration, in steps. Throws ApplyConflicts unless forced, and a KeyError for a configuration
 * whose lists have no keys.
 */
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

/** Returns a served version; throws an Error for a version that is not served. */
export function known(versions: Versions, apiVersion: string): TypeVersion {
  const version = versions(apiVersion);
  if (!version) throw new Error(`${apiVersion} is not served`);
  return version;
}

/** Returns the managers of served versions, with fields that have become atomic since they were written. */
function reconciled(managers: Managers, versions: Versions): Map<string, Manager> {
  const kept = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const version = versions(manager.apiVersion);
    if (version) kept.set(id, withFields(manager, withAtomicFields(manager.fields, version.shape)));
  }
  return kept;
}

/** Takes changed fields from all managers but the writer; throws ApplyConflicts when `force` is not set. */
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
      keepWriter(after, id, manager);
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

/** Keeps the writer, unless it owns no fields. */
function keepWriter(managers: Map<string, Manager>, id: string, writer: Manager): void {
  if (writer.written || !writer.fields.isEmpty) managers.set(id, writer);
}

/** Leaves a manager only its unchanged fields and returns the others; a manager without fields is removed. */
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

/** Removes the fields that the writer applied last time and not now, unless another manager owns them. */
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

/** Restores the fields of `merged` that other managers own, or that the writer applies now. */
function* withOwned(
  merged: unknown,
  pruned: unknown,
  then: TypeVersion,
  managers: Managers,
  versions: Versions,
): Steps<unknown> {
  const owned = Map.groupBy(managers.values(), ({ apiVersion }) => apiVersion);
  // The version in which the object was pruned comes first: it restores the fields that conversions need.
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

/** Restores fields that no manager applied: only fields that the writer owned are removed. */
function withUnowned(merged: unknown, pruned: unknown, last: FieldSet, { shape }: TypeVersion): unknown {
  const kept = withNamedParents(fieldsOf(pruned, shape), shape);
  const all = withNamedParents(fieldsOf(merged, shape), shape);
  return withoutFields(merged, all.difference(kept).intersection(withNamedParents(last, shape)), shape);
}
