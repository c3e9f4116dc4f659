/**
 * Strategic merge patches (k8s.io/apimachinery util/strategicpatch): merge patches that know which lists merge by a
 * key, and that carry directives. Types decide; what they do not describe merges as JSON. A patch that is malformed is
 * a BadRequest.
 */
import { deepCopy, deepEqual, isRecord, type JsonObject, setOwn } from './equality.ts';
import { any, type FieldType, type MergeRule, type ObjectType } from './field-types.ts';
import { newBadRequest } from './status-error.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList/';
const setElementOrder = '$setElementOrder/';

/** A patched copy of the target, which is of the given type. */
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

/** Changes and returns `original`, unless a directive puts another object in its place. */
function mergeObject(original: JsonObject, patch: JsonObject, type: FieldType): JsonObject {
  switch (patch[directive]) {
    case undefined:
    case null:
    case 'merge':
      break;
    case 'replace':
      return withoutDirectives(patch, type);
    case 'delete':
      return {};
    default:
      throw newBadRequest(
        `unknown patch type: ${JSON.stringify(patch[directive])}, expected delete, replace or merge`,
      );
  }
  keepOnly(original, patch);
  const orders = readOrders(original, patch, type);
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || key === retainKeys || key.startsWith(setElementOrder)) continue;
    if (key.startsWith(deleteFromList)) removeItems(original, key.slice(deleteFromList.length), value);
    else mergeMember(original, key, value, memberOf(type, key));
  }
  for (const order of orders) orderList(original, order);
  return original;
}

function mergeMember(original: JsonObject, key: string, value: unknown, { type, merge }: Member): void {
  if (value === null) {
    delete original[key];
    return;
  }
  const old = Object.hasOwn(original, key) ? original[key] : undefined;
  if (isRecord(value)) setOwn(original, key, mergeObject(isRecord(old) ? old : {}, value, type));
  else if (Array.isArray(value) && merge?.patchMerge)
    setOwn(original, key, mergeList(Array.isArray(old) ? old : [], value, itemType(type), merge.patchKey));
  else setOwn(original, key, deepCopy(value));
}

const itemType = (type: FieldType) => (type.kind === 'list' ? type.items : any);

/** What stands in a patch for something that is not there yet: no directives and no nulls. */
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
  if (key === undefined) return union(original, patch);
  const items = patch.map((item) => {
    if (!isRecord(item)) throw newBadRequest(`an item of a list that merges by ${key} is not an object`);
    return item;
  });
  if (items.some((item) => item[directive] === 'replace'))
    return items.filter((item) => !(directive in item)).map((item) => withoutDirectives(item, type));
  const result = [...original];
  for (const item of items) mergeItem(result, item, type, key);
  return result;
}

function mergeItem(list: unknown[], item: JsonObject, type: FieldType, key: string): void {
  const id = item[key];
  if (id === undefined || id === null)
    throw newBadRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  if (item[directive] === 'delete') {
    for (let i = list.length - 1; i >= 0; i--) if (keyOf(list[i], key) === id) list.splice(i, 1);
    return;
  }
  const index = list.findIndex((old) => keyOf(old, key) === id);
  const old = list[index];
  if (isRecord(old)) list[index] = mergeObject(old, item, type);
  else list.push(mergeObject({}, item, type));
}

const keyOf = (item: unknown, key: string) => (isRecord(item) ? item[key] : undefined);

function union(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const result: unknown[] = [];
  for (const item of [...original, ...patch])
    if (!result.some((seen) => deepEqual(seen, item))) result.push(deepCopy(item));
  return result;
}

function removeItems(original: JsonObject, field: string, values: unknown): void {
  if (!Array.isArray(values)) throw newBadRequest(`${deleteFromList}${field} must be a list`);
  const list = original[field];
  if (Array.isArray(list))
    setOwn(
      original,
      field,
      list.filter((item) => !values.some((value) => deepEqual(value, item))),
    );
}

/** `$retainKeys` lists every field that may stay; a patch may not set another. */
function keepOnly(original: JsonObject, patch: JsonObject): void {
  const keys = patch[retainKeys];
  if (keys === undefined) return;
  if (!Array.isArray(keys)) throw newBadRequest(`${retainKeys} must be a list of field names`);
  for (const [key, value] of Object.entries(patch))
    if (!key.startsWith('$') && value !== null && !keys.includes(key))
      throw newBadRequest(`${retainKeys} does not list the field ${JSON.stringify(key)} that the patch sets`);
  for (const key of Object.keys(original)) if (!keys.includes(key)) delete original[key];
}

interface Order {
  readonly field: string;
  /** The merge keys, or the items themselves where there is none. */
  readonly wanted: readonly unknown[];
  /** The same of the list before the patch. */
  readonly before: readonly unknown[];
  readonly idOf: (item: unknown) => unknown;
}

function readOrders(original: JsonObject, patch: JsonObject, type: FieldType): Order[] {
  const orders: Order[] = [];
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(setElementOrder)) continue;
    const field = name.slice(setElementOrder.length);
    if (!Array.isArray(order)) throw newBadRequest(`${name} must be a list`);
    const key = memberOf(type, field).merge?.patchKey;
    const idOf = (item: unknown) => (key === undefined ? item : keyOf(item, key));
    const old = original[field];
    const wanted = order.map(idOf);
    checkOrder(name, patch[field], wanted, idOf);
    orders.push({ field, wanted, before: Array.isArray(old) ? old.map(idOf) : [], idOf });
  }
  return orders;
}

/** The items of a patch must stand in the order that the patch asks for. */
function checkOrder(
  name: string,
  items: unknown,
  wanted: readonly unknown[],
  idOf: (item: unknown) => unknown,
): void {
  if (!Array.isArray(items)) return;
  let last = -1;
  for (const item of items) {
    if (isRecord(item) && directive in item) continue;
    const at = indexOf(wanted, idOf(item));
    if (at <= last)
      throw newBadRequest(
        `the order in the patched list does not match ${name}: ${JSON.stringify(idOf(item))}`,
      );
    last = at;
  }
}

const indexOf = (ids: readonly unknown[], id: unknown) => ids.findIndex((other) => deepEqual(other, id));

/**
 * Puts the items that the order names in its order. The others keep theirs, and stay before a named item that they
 * stood before.
 */
function orderList(original: JsonObject, { field, wanted, before, idOf }: Order): void {
  const list = original[field];
  if (!Array.isArray(list)) return;
  const rank = (item: unknown) => indexOf(wanted, idOf(item));
  const place = (item: unknown) => indexOf(before, idOf(item));
  const named = list.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const others = list.filter((item) => rank(item) < 0);
  const result: unknown[] = [];
  for (const item of others) {
    while (named.length > 0 && (place(named[0]) < 0 || place(named[0]) < place(item)))
      result.push(named.shift());
    result.push(item);
  }
  setOwn(original, field, [...result, ...named]);
}
