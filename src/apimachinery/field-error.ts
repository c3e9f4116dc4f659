/**
 * The causes of a 422 Invalid, worded as k8s.io/apimachinery util/validation/field words them: clients and
 * people match these texts. `path` is the field in dotted form, list items as `[0]`, map keys as `[key]`.
 */
import type { CauseReason, StatusCause } from './status-error.ts';

export function requiredCause(path: string, detail = ''): StatusCause {
  return cause('FieldValueRequired', path, `Required value${detail && `: ${detail}`}`);
}

export function invalidCause(path: string, value: unknown, detail: string): StatusCause {
  return cause('FieldValueInvalid', path, `Invalid value: ${showValue(value)}: ${detail}`);
}

/** Returns the cause for values that are wrong in combination; the message shows none of them. */
export function invalidTogetherCause(path: string, detail: string): StatusCause {
  return cause('FieldValueInvalid', path, `Invalid value: ${detail}`);
}

export function duplicateCause(path: string, value: unknown): StatusCause {
  return cause('FieldValueDuplicate', path, `Duplicate value: ${showValue(value)}`);
}

export function forbiddenCause(path: string, detail: string): StatusCause {
  return cause('FieldValueForbidden', path, `Forbidden: ${detail}`);
}

export function notFoundCause(path: string, value: unknown): StatusCause {
  return cause('FieldValueNotFound', path, `Not found: ${showValue(value)}`);
}

export function notSupportedCause(path: string, value: unknown, supported: readonly string[]): StatusCause {
  const list = supported.map((choice) => JSON.stringify(choice)).join(', ');
  return cause(
    'FieldValueNotSupported',
    path,
    `Unsupported value: ${showValue(value)}${list && `: supported values: ${list}`}`,
  );
}

export function tooLongCause(path: string, maxBytes: number): StatusCause {
  return cause('FieldValueTooLong', path, `Too long: may not be more than ${maxBytes} bytes`);
}

export function tooManyCause(path: string, actual: number, max: number): StatusCause {
  return cause('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`);
}

/** `path.field`, or `field` alone at the root. */
export const joinPath = (path: string, field: string) => (path ? `${path}.${field}` : field);

function cause(reason: CauseReason, field: string, message: string): StatusCause {
  return { reason, message, field };
}

/** Maximum characters of a value that a message repeats. */
const maxShown = 4000;

function showValue(value: unknown): string {
  if (value === undefined) return 'null';
  const text = JSON.stringify(beginningOf(value, { left: maxShown }));
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/**
 * Returns the whole value, or a beginning of it whose JSON has more characters than are left. Each item of a
 * list may have a cause that shows the whole list, which would take too long to serialize each time. The
 * count never exceeds the characters that the JSON has.
 */
function beginningOf(value: unknown, room: Room): unknown {
  if (typeof value === 'string') {
    const text = value.slice(0, Math.max(0, room.left) + 1);
    room.left -= text.length + 2;
    return text;
  }
  room.left -= 1;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? firstItems(value, room) : firstFields(value, room);
}

/** Characters that a shown value may still have. */
interface Room {
  left: number;
}

function firstItems(list: readonly unknown[], room: Room): unknown[] {
  const items: unknown[] = [];
  for (let index = 0; index < list.length && room.left >= 0; index++)
    items.push(beginningOf(list[index], room));
  return items;
}

function firstFields(object: object, room: Room): unknown {
  const fields: [string, unknown][] = [];
  for (const [key, inner] of Object.entries(object)) {
    if (room.left < 0) break;
    if (inner === undefined) continue;
    room.left -= key.length + 3;
    fields.push([key, beginningOf(inner, room)]);
  }
  return Object.fromEntries(fields);
}
