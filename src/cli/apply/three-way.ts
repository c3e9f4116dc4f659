/**
 * The patch of `apply`. Inputs are the last applied manifest, the current manifest and the server's object;
 * the result is a strategic merge patch that sets the manifest's fields, removes fields that the manifest no
 * longer has, and keeps all others (k8s.io/apimachinery util/strategicpatch CreateThreeWayMergePatch). With
 * `plainSchema` the patch is a JSON merge patch. Values that are already correct are not in the patch.
 */
import { deepEqual, isRecord, type JsonObject, setOwn } from '../../apimachinery/equality.ts';
import type { MergeSchema } from './merge-schema.ts';

export interface ThreeWay {
  /** The last applied manifest; {} if it is not known. */
  readonly original: JsonObject;
  readonly modified: JsonObject;
  readonly current: JsonObject;
}

/** Returns the patch; undefined if there is nothing to change. */
export function threeWayPatch(
  { original, modified, current }: ThreeWay,
  schema: MergeSchema,
): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const [key, wanted] of Object.entries(modified)) {
    if (wanted === null) continue;
    const value: Values = { wanted, is: own(current, key), was: own(original, key) };
    Object.assign(patch, patchField(key, value, schema.field(key)));
  }
  for (const key of Object.keys({ ...original, ...modified })) {
    const gone = own(modified, key) === undefined || own(modified, key) === null;
    if (gone && own(current, key) !== undefined) setOwn(patch, key, null);
  }
  const retained = schema.retainsKeys ? retainKeys(patch, modified, current) : {};
  Object.assign(patch, retained);
  return Object.keys(patch).length > 0 ? patch : undefined;
}

interface Values {
  readonly wanted: unknown;
  /** The server's value; undefined if it has none. */
  readonly is: unknown;
  readonly was: unknown;
}

function patchField(key: string, { wanted, is, was }: Values, schema: MergeSchema): JsonObject {
  if (isRecord(wanted) && isRecord(is)) {
    const inner = threeWayPatch({ original: recordOr(was), modified: wanted, current: is }, schema);
    return inner ? entry(key, inner) : {};
  }
  if (Array.isArray(wanted) && Array.isArray(is) && schema.merges)
    return patchMergingList(key, { wanted, is, was: Array.isArray(was) ? was : [] }, schema);
  return deepEqual(wanted, is) ? {} : entry(key, wanted);
}

interface Lists {
  readonly wanted: readonly unknown[];
  readonly is: readonly unknown[];
  readonly was: readonly unknown[];
}

function patchMergingList(key: string, lists: Lists, schema: MergeSchema): JsonObject {
  return schema.mergeKey === undefined
    ? patchSet(key, lists)
    : patchList(key, lists, schema.mergeKey, schema.items(), schema.retainsKeys);
}

/** Patches a merging list of plain values, such as finalizers. */
function patchSet(key: string, { wanted, is, was }: Lists): JsonObject {
  const added = wanted.filter((item) => !includes(is, item));
  const removed = was.filter((item) => !includes(wanted, item) && includes(is, item));
  return {
    ...(added.length > 0 && entry(key, added)),
    ...(removed.length > 0 && { [`$deleteFromPrimitiveList/${key}`]: removed }),
    ...((added.length > 0 || removed.length > 0) && { [`$setElementOrder/${key}`]: wanted }),
  };
}

function patchList(
  key: string,
  lists: Lists,
  mergeKey: string,
  schema: MergeSchema,
  retainsKeys: boolean,
): JsonObject {
  const wanted = keyed(lists.wanted, mergeKey);
  const is = keyed(lists.is, mergeKey);
  // Two items with the same key (a port for TCP and for UDP) can only be replaced together.
  if (!wanted || !is) return replaceList(key, lists, schema);
  const was = keyed(lists.was, mergeKey) ?? new Map<unknown, JsonObject>();
  const inside: MergeSchema = { ...view(schema), retainsKeys };
  const items = [...wanted].flatMap(([id, modified]): readonly JsonObject[] => {
    const current = is.get(id);
    if (!current) return [modified];
    const inner = threeWayPatch({ original: was.get(id) ?? {}, modified, current }, inside);
    return inner ? [{ ...inner, [mergeKey]: id }] : [];
  });
  for (const id of was.keys())
    if (!wanted.has(id) && is.has(id)) items.push({ $patch: 'delete', [mergeKey]: id });
  if (items.length === 0 && sameOrder([...is.keys()], [...wanted.keys()])) return {};
  return {
    ...(items.length > 0 && entry(key, items)),
    [`$setElementOrder/${key}`]: [...wanted.keys()].map((id) => ({ [mergeKey]: id })),
  };
}

const view = (schema: MergeSchema): MergeSchema => ({
  merges: schema.merges,
  retainsKeys: schema.retainsKeys,
  field: (name) => schema.field(name),
  items: () => schema.items(),
});

function replaceList(key: string, { wanted, is, was }: Lists, schema: MergeSchema): JsonObject {
  const same =
    wanted.length === is.length &&
    wanted.every((item, index) => {
      const current = is[index];
      if (!isRecord(item) || !isRecord(current)) return deepEqual(item, current);
      const patch = threeWayPatch({ original: recordOr(was[index]), modified: item, current }, schema);
      return patch === undefined;
    });
  return same ? {} : entry(key, [...wanted, { $patch: 'replace' }]);
}

/** Returns the items by their keys, in order; undefined if an item has no key or two have the same key. */
function keyed(list: readonly unknown[], mergeKey: string): Map<unknown, JsonObject> | undefined {
  const items = new Map<unknown, JsonObject>();
  for (const item of list) {
    const id = isRecord(item) ? own(item, mergeKey) : undefined;
    if (!isRecord(item) || id === undefined || items.has(id)) return undefined;
    items.set(id, item);
  }
  return items;
}

/** Returns true if the items that both lists contain are in the same order. */
function sameOrder(is: readonly unknown[], wanted: readonly unknown[]): boolean {
  const shared = is.filter((id) => wanted.includes(id));
  return deepEqual(
    shared,
    wanted.filter((id) => is.includes(id)),
  );
}

/** Returns the names of the fields to retain if a field changes or the server has additional fields. */
function retainKeys(patch: JsonObject, modified: JsonObject, current: JsonObject): JsonObject {
  const keys = Object.keys(modified).filter((key) => modified[key] !== null);
  const extra = Object.keys(current).some((key) => !keys.includes(key));
  return Object.keys(patch).length > 0 || extra ? { $retainKeys: keys.sort() } : {};
}

const own = (object: JsonObject, key: string) => (Object.hasOwn(object, key) ? object[key] : undefined);

const recordOr = (value: unknown): JsonObject => (isRecord(value) ? value : {});

const includes = (list: readonly unknown[], item: unknown) => list.some((other) => deepEqual(other, item));

function entry(key: string, value: unknown): JsonObject {
  const object: JsonObject = {};
  setOwn(object, key, value);
  return object;
}
