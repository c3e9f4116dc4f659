/** JSON Patch (RFC 6902): operations are applied in order, all or none. */
import { deepCopy, deepEqual, isRecord, setOwn } from './equality.ts';
import { newBadRequest, newStatusError, StatusError } from './status-error.ts';
import { countValues, maxDepth, maxValues } from './value-limit.ts';

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/** Thrown when the operation `test` finds another value. */
export class FailedTest extends StatusError {}

const maxOperations = 10_000;
/** Maximum bytes of JSON that copies may add in one patch: repeated copies double the size. */
const maxCopied = 3 * 1024 * 1024;
/** Maximum list items that one patch may shift by adding or removing items before them. */
const maxMoved = 10_000_000;

/** Checks the form of a patch; throws BadRequest, or RequestEntityTooLarge for too many operations. */
export function readJsonPatch(value: unknown): JsonPatchOperation[] {
  if (!Array.isArray(value)) throw badPatch('a JSON patch is a list of operations');
  if (value.length > maxOperations)
    throw newStatusError(
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${value.length}`,
    );
  return value.map(readOperation);
}

/** Returns a patched copy of the document; throws Invalid (422) when an operation does not apply. */
export function applyJsonPatch(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let result = deepCopy(document);
  const spent: Spent = { moved: 0, copiedBytes: 0, copiedValues: 0 };
  for (const operation of operations) result = applyOperation(result, operation, spent);
  return result;
}

/** Returns the document after one operation; changes it in place where possible. */
function applyOperation(document: unknown, operation: JsonPatchOperation, spent: Spent): unknown {
  switch (operation.op) {
    case 'add':
      return add(document, operation.path, deepCopy(operation.value), spent);
    case 'remove':
      return remove(document, operation.path, spent);
    case 'replace':
      read(document, operation.path, 'replace');
      return operation.path === ''
        ? deepCopy(operation.value)
        : replace(document, operation.path, deepCopy(operation.value));
    case 'move': {
      if (operation.path.startsWith(`${operation.from}/`))
        throw doesNotApply('move', operation.path, 'a value cannot be moved into itself');
      const value = read(document, operation.from, 'move');
      return add(remove(document, operation.from, spent), operation.path, value, spent);
    }
    case 'copy': {
      const value = read(document, operation.from, 'copy');
      spendCopy(spent, value, operation.path);
      return add(document, operation.path, deepCopy(value), spent);
    }
    case 'test':
      if (!deepEqual(read(document, operation.path, 'test'), operation.value))
        throw new FailedTest(failed(`testing value ${operation.path} failed: test failed`).status);
      return document;
  }
}

function readOperation(value: unknown, index: number): JsonPatchOperation {
  const at = `operation ${index}`;
  if (!isRecord(value)) throw badPatch(`${at} is not an object`);
  const { op, path, from } = value;
  if (typeof path !== 'string' || !isPointer(path)) throw badPatch(`${at} does not have a valid path`);
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(value, 'value')) throw badPatch(`${at} (${op}) has no value`);
      return { op, path, value: value.value };
    case 'remove':
      return { op, path };
    case 'move':
    case 'copy':
      if (typeof from !== 'string' || !isPointer(from))
        throw badPatch(`${at} (${op}) does not have a valid from`);
      return { op, path, from };
    default:
      throw badPatch(
        `${at}: unknown op ${JSON.stringify(op)}, expected add, remove, replace, move, copy or test`,
      );
  }
}

const isPointer = (text: string) => text === '' || text.startsWith('/');

/** Splits a pointer into keys. The limit is safe because no value is nested deeper (value-limit.ts). */
const segments = (pointer: string) =>
  pointer
    .split('/', maxDepth + 3)
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function read(document: unknown, pointer: string, op: string): unknown {
  let value = document;
  for (const key of segments(pointer)) {
    if (Array.isArray(value)) value = value[indexIn(value, key, value.length - 1, op, pointer)];
    else if (isRecord(value) && Object.hasOwn(value, key)) value = value[key];
    else throw missing(op, pointer);
  }
  return value;
}

/** Returns the container of the pointer's last segment, and that segment. */
function locate(document: unknown, pointer: string, op: string): { parent: unknown; key: string } {
  const slash = pointer.lastIndexOf('/');
  return { parent: read(document, pointer.slice(0, slash), op), key: segments(pointer).at(-1) ?? '' };
}

/** Costs of the operations of one patch so far. */
interface Spent {
  moved: number;
  copiedBytes: number;
  copiedValues: number;
}

function spendCopy(spent: Spent, value: unknown, pointer: string): void {
  spent.copiedValues += countValues(value);
  if (spent.copiedValues > maxValues)
    throw doesNotApply('copy', pointer, `copies exceed ${maxValues} values`);
  spent.copiedBytes += JSON.stringify(value).length;
  if (spent.copiedBytes > maxCopied) throw doesNotApply('copy', pointer, `copies exceed ${maxCopied} bytes`);
}

/** Counts the items that shift by one position: all items after the added or removed one. */
function spendMoves(spent: Spent, items: number, op: string, pointer: string): void {
  spent.moved += items;
  if (spent.moved > maxMoved)
    throw doesNotApply(op, pointer, `more than ${maxMoved} items of lists would move`);
}

function add(document: unknown, pointer: string, value: unknown, spent: Spent): unknown {
  if (pointer === '') return value;
  const { parent, key } = locate(document, pointer, 'add');
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : indexIn(parent, key, parent.length, 'add', pointer);
    spendMoves(spent, parent.length - index, 'add', pointer);
    parent.splice(index, 0, value);
  } else if (isRecord(parent)) setOwn(parent, key, value);
  else throw missing('add', pointer);
  return document;
}

function replace(document: unknown, pointer: string, value: unknown): unknown {
  const { parent, key } = locate(document, pointer, 'replace');
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else if (isRecord(parent)) setOwn(parent, key, value);
  return document;
}

function remove(document: unknown, pointer: string, spent: Spent): unknown {
  if (pointer === '') return null;
  const { parent, key } = locate(document, pointer, 'remove');
  if (Array.isArray(parent)) {
    const index = indexIn(parent, key, parent.length - 1, 'remove', pointer);
    spendMoves(spent, parent.length - index, 'remove', pointer);
    parent.splice(index, 1);
  } else if (isRecord(parent) && Object.hasOwn(parent, key)) delete parent[key];
  else throw missing('remove', pointer);
  return document;
}

function indexIn(list: readonly unknown[], key: string, last: number, op: string, pointer: string): number {
  const index = /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
  if (index < 0 || index > last)
    throw doesNotApply(op, pointer, `${JSON.stringify(key)} is not an index of a list of ${list.length}`);
  return index;
}

const badPatch = (why: string) => newBadRequest(`error decoding patch: ${why}`);
const failed = (why: string) => newStatusError('Invalid', why);
const missing = (op: string, pointer: string) =>
  failed(`${op} operation does not apply: doc is missing path: ${pointer}: missing value`);
const doesNotApply = (op: string, pointer: string, why: string) =>
  failed(`${op} operation does not apply: ${pointer}: ${why}`);
