/**
 * Strategic merge patches (k8s.io/apimachinery util/strategicpatch): merge patches in which some lists merge
 * by a key, and which carry directives. The types select the behavior; values without a type merge as JSON. A
 * malformed patch is a BadRequest.
 */
import { deepCopy, identityOf, isRecord, type JsonObject, setOwn } from './equality.ts';
import { any, type FieldType, type MergeRule, type ObjectType } from './field-types.ts';
import { newBadRequest } from './status-error.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList/';
const setElementOrder = '$setElementOrder/';

/** Returns a patched copy of the target, which is of the given type. */
export function applyStrategicPatch(target: JsonObject, patch: JsonObject, type: ObjectType): JsonObject {
  return mergeObject(deepCopy(target), patch, { kind: 'object', object: type });
}

interface Member {
  readonly type: FieldType;
  readonly merge: MergeRule | undefined;
}

function memberOf(type: FieldType, key: string): Member {
  if (type.kind === 'map') return { type: type.values, merge: undefined };
  const field = type.kind === 'object' ? type.object.fields.get(key) : undefined;
  return { type: field?.type ?? any, merge: field?.merge };
}

/** Changes and returns `original`, unless a directive replaces it with another object. */
function mergeObject(original: JsonObject, patch: JsonObject, type: FieldType): JsonObject {
  switch (patch[directive]) {
    case undefined:
      break;
    case 'replace':
      return withoutDirectives(patch, type);
    case 'delete':
      return {};
    default:
      throw newBadRequest(
        `unknown patch type: ${JSON.stringify(patch[directive])}, expected delete or replace`,
      );
  }
  keepOnly(original, patch);
  const orders = readOrders(original, patch, type);
  for (const [key, value] of Object.entries(patch)) {
    if (isForWholeObject(key)) continue;
    if (key.startsWith(deleteFromList)) removeItems(original, key.slice(deleteFromList.length), value);
    else mergeMember(original, key, value, memberOf(type, key));
  }
  for (const order of orders) {
    const list = original[order.field];
    if (Array.isArray(list)) setOwn(original, order.field, ordered(list, order));
  }
  return original;
}

/** Returns true for the directives that are applied before or after the single fields. */
const isForWholeObject = (key: string) =>
  key === directive || key === retainKeys || key.startsWith(setElementOrder);

function mergeMember(original: JsonObject, key: string, value: unknown, member: Member): void {
  if (value === null) {
    delete original[key];
    return;
  }
  const old = Object.hasOwn(original, key) ? original[key] : undefined;
  // An object that is not there needs no deletion: only an existing one becomes empty.
  if (old === undefined && isRecord(value) && value[directive] === 'delete') return;
  setOwn(original, key, mergeValue(old, value, member));
}

function mergeValue(old: unknown, value: unknown, { type, merge }: Member): unknown {
  if (isRecord(value)) return mergeObject(objectOrEmpty(old), value, type);
  if (Array.isArray(value) && merge?.patchMerge)
    return mergeList(Array.isArray(old) ? old : [], value, itemType(type), merge.patchKey);
  return deepCopy(value);
}

const objectOrEmpty = (value: unknown): JsonObject => (isRecord(value) ? value : {});

const itemType = (type: FieldType) => (type.kind === 'list' ? type.items : any);

/** Returns the value that a patch gives to a new field: without directives and nulls. */
const withoutDirectives = (patch: JsonObject, type: FieldType) => {
  const { [directive]: _, ...rest } = patch;
  return mergeObject({}, rest, type);
};

function mergeList(
  original: readonly unknown[],
  patch: readonly unknown[],
  type: FieldType,
  key: string | undefined,
): unknown[] {
  const idOf = identityBy(key);
  const inOrder = (list: readonly unknown[], named: readonly unknown[]) =>
    ordered(list, { ranks: placesOf(named.map(idOf)), before: placesOf(original.map(idOf)), idOf });
  if (key === undefined) return inOrder(union(original, patch), patch);
  const items = patch.map((item) => {
    if (!isRecord(item)) throw newBadRequest(`an item of a list that merges by ${key} is not an object`);
    return item;
  });
  if (items.some((item) => item[directive] === 'replace'))
    return items.filter((item) => !(directive in item)).map((item) => withoutDirectives(item, type));
  return inOrder(mergeItems(original, items, type, key), items);
}

/** Returns a function that identifies an item by its merge key, or by the item itself without a key. */
const identityBy = (key: string | undefined) => (item: unknown) =>
  identityOf(key === undefined ? item : keyOf(item, key));

/** Merges the items. A map finds items by key: both lists may be as long as a body allows. */
function mergeItems(
  original: readonly unknown[],
  items: readonly JsonObject[],
  type: FieldType,
  key: string,
): unknown[] {
  const result = new Map(original.entries());
  const places = Map.groupBy(result.keys(), (place) => keyOf(original[place], key));
  let next = original.length;
  for (const item of items) {
    const id = mergeKeyOf(item, key);
    const found = places.get(id) ?? [];
    if (item[directive] === 'delete') {
      for (const place of found) result.delete(place);
      places.delete(id);
      continue;
    }
    const [place = next++] = found;
    result.set(place, mergeObject(objectOrEmpty(result.get(place)), item, type));
    if (found.length === 0) places.set(id, [place]);
  }
  return [...result.values()];
}

function mergeKeyOf(item: JsonObject, key: string): unknown {
  const id = item[key];
  if (id === undefined || id === null)
    throw newBadRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  return id;
}

const keyOf = (item: unknown, key: string) => (isRecord(item) ? item[key] : undefined);

function union(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const result = new Map<string, unknown>();
  for (const item of [...original, ...patch]) {
    const id = identityOf(item);
    if (!result.has(id)) result.set(id, deepCopy(item));
  }
  return [...result.values()];
}

function removeItems(original: JsonObject, field: string, values: unknown): void {
  if (!Array.isArray(values)) throw newBadRequest(`${deleteFromList}${field} must be a list`);
  const list = original[field];
  if (!Array.isArray(list)) return;
  const gone = new Set(values.map(identityOf));
  setOwn(
    original,
    field,
    list.filter((item) => !gone.has(identityOf(item))),
  );
}

/** Removes the fields that `$retainKeys` does not list; a patch that sets another field is rejected. */
function keepOnly(original: JsonObject, patch: JsonObject): void {
  const keys = patch[retainKeys];
  if (keys === undefined) return;
  if (!Array.isArray(keys)) throw newBadRequest(`${retainKeys} must be a list of field names`);
  const kept = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch))
    if (!key.startsWith('$') && value !== null && !kept.has(key))
      throw newBadRequest(`${retainKeys} does not list the field ${JSON.stringify(key)} that the patch sets`);
  for (const key of Object.keys(original)) if (!kept.has(key)) delete original[key];
}

interface Order {
  /** Positions of the items that the order names, by identity. */
  readonly ranks: Places;
  /** Positions of all items in the list before the patch. */
  readonly before: Places;
  readonly idOf: (item: unknown) => string;
}

interface FieldOrder extends Order {
  readonly field: string;
}

/** The first position of each identity in a list. */
type Places = ReadonlyMap<string, number>;

function placesOf(ids: readonly string[]): Places {
  const places = new Map<string, number>();
  for (const [place, id] of ids.entries()) if (!places.has(id)) places.set(id, place);
  return places;
}

function readOrders(original: JsonObject, patch: JsonObject, type: FieldType): FieldOrder[] {
  const orders: FieldOrder[] = [];
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(setElementOrder)) continue;
    const field = name.slice(setElementOrder.length);
    if (!Array.isArray(order)) throw newBadRequest(`${name} must be a list`);
    const key = memberOf(type, field).merge?.patchKey;
    const idOf = identityBy(key);
    const old = original[field];
    const ids = order.map(idOf);
    checkOrder(name, patch[field], ids, idOf);
    orders.push({
      field,
      ranks: placesOf(ids),
      before: placesOf(Array.isArray(old) ? old.map(idOf) : []),
      idOf,
    });
  }
  return orders;
}

/**
 * Rejects a patch whose items are not in the order that the patch itself requests. An empty order requests
 * nothing, and items to delete have no place in it (strategicpatch's validatePatchWithSetOrderList).
 */
function checkOrder(name: string, items: unknown, order: readonly string[], idOf: Order['idOf']): void {
  if (!Array.isArray(items) || order.length === 0) return;
  let next = 0;
  for (const item of items) {
    if (isRecord(item) && item[directive] === 'delete') continue;
    const found = order.indexOf(idOf(item), next);
    if (found < 0)
      throw newBadRequest(`the order in the patched list does not match ${name}: ${JSON.stringify(item)}`);
    next = found + 1;
  }
}

/**
 * Returns the items in the requested order: items that the order names stand in that order. Other items keep
 * their order, and stay before a named item that they preceded; thus a new named item comes first
 * (strategicpatch's mergeSortedSlice).
 */
function ordered(list: readonly unknown[], { ranks, before, idOf }: Order): unknown[] {
  const placed = list.map((item) => {
    const id = idOf(item);
    return { item, rank: ranks.get(id) ?? -1, place: before.get(id) ?? -1 };
  });
  const named = placed.filter(({ rank }) => rank >= 0).sort((a, b) => a.rank - b.rank);
  const result: unknown[] = [];
  let next = 0;
  for (const { item, rank, place } of placed) {
    if (rank >= 0) continue;
    for (let first = named[next]; first && (first.place < 0 || first.place < place); first = named[++next])
      result.push(first.item);
    result.push(item);
  }
  return [...result, ...named.slice(next).map(({ item }) => item)];
}
