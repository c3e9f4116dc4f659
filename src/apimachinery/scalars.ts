/**
 * Values of single fields as Go's typed decoder reads them for Kubernetes: their types, canonical forms and
 * error messages.
 */
import { type FieldType, goTypeName, type Scalar } from './field-types.ts';
import { canonicalQuantity, QuantityError, quantityFault } from './quantity.ts';

/** Thrown for a value that its field cannot have; the message is Go's. */
export class TypeMismatch extends Error {
  override readonly name = 'TypeMismatch';
}

/** Position of a value in an object. */
export interface Place {
  readonly path: string;
  /** The Go struct that holds the field. */
  readonly owner: string;
}

/** Zero values, as in Go. */
export const zeroOf: Readonly<Record<Scalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  time: '',
  microTime: '',
  quantity: '0',
  intOrString: 0,
  bytes: '',
};

/** Returns the value in the form that is kept; throws TypeMismatch when it is not of the type. */
export function conformScalar(value: unknown, scalar: Scalar, place: Place): unknown {
  const read = scalarReaders[scalar](value, place);
  if (read === undefined) throw mismatch(value, goScalars[scalar], place);
  return read;
}

function isInt32(value: unknown): boolean {
  return Number.isInteger(value) && (Number(value) | 0) === value;
}

/** Returns undefined for a value of another JSON type. */
type ScalarReader = (value: unknown, place: Place) => unknown;

const accept =
  (accepts: (value: unknown) => boolean): ScalarReader =>
  (value) =>
    accepts(value) ? value : undefined;

const fromText =
  (normalize: (text: string, place: Place) => string): ScalarReader =>
  (value, place) =>
    typeof value === 'string' ? normalize(value, place) : undefined;

const scalarReaders: Readonly<Record<Scalar, ScalarReader>> = {
  string: accept((value) => typeof value === 'string'),
  bool: accept((value) => typeof value === 'boolean'),
  int32: accept(isInt32),
  int64: accept(Number.isSafeInteger),
  double: accept((value) => typeof value === 'number'),
  intOrString: accept((value) => typeof value === 'string' || isInt32(value)),
  time: fromText((text, place) => normalTime(text, 0, place)),
  microTime: fromText((text, place) => normalTime(text, 6, place)),
  quantity: (value, place) =>
    typeof value === 'string' || typeof value === 'number' ? normalQuantity(value, place) : undefined,
  bytes: fromText(normalBase64),
};

const goScalars: Readonly<Record<Scalar, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  time: 'Time',
  microTime: 'MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  bytes: '[]uint8',
};

export function goName(type: FieldType): string {
  switch (type.kind) {
    case 'any':
      return 'interface {}';
    case 'scalar':
      return goScalars[type.scalar];
    case 'object':
      return goTypeName(type.object);
    case 'list':
      return `[]${goName(type.items)}`;
    case 'map':
      return `map[string]${goName(type.values)}`;
  }
}

export function mismatch(value: unknown, wanted: string, { owner, path }: Place): TypeMismatch {
  const where = path ? `Go struct field ${owner}.${path}` : 'Go value';
  return new TypeMismatch(`json: cannot unmarshal ${jsonName(value)} into ${where} of type ${wanted}`);
}

function jsonName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      // Go prints a number only when its size is wrong or an integer has a fraction.
      return `number${Number.isInteger(value) && isInt32(value) ? '' : ` ${value}`}`;
    default:
      return value === null || value === undefined ? 'null' : 'object';
  }
}

const rfc3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/** Range of years with four digits, in milliseconds since 1970. */
const [firstTime, lastTime] = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'].map(Date.parse) as [
  number,
  number,
];

/** The server sets this time itself: an object that was never stored does not have it. */
const ownTime = 'metadata.creationTimestamp';

/** Returns the time as RFC 3339 in UTC with exactly `digits` digits of a second. */
function normalTime(text: string, digits: number, { path }: Place): string {
  if (text === '' && path === ownTime) return '';
  const [, date, time, fraction = '', zone = ''] = rfc3339.exec(text) ?? [];
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  // Date reads the 30th of February as the 2nd of March.
  if (!(ms >= firstTime && ms <= lastTime) || secondsOf(Date.parse(`${date}T${time}Z`)) !== `${date}T${time}`)
    throw new TypeMismatch(
      `${path}: parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": not an RFC 3339 time`,
    );
  const seconds = secondsOf(ms);
  return digits ? `${seconds}.${fraction.slice(0, digits).padEnd(digits, '0')}Z` : `${seconds}Z`;
}

const secondsOf = (ms: number) => new Date(ms).toISOString().slice(0, 19);

function normalQuantity(value: string | number, { path }: Place): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new TypeMismatch(`${path}: a number over 2^53 is not read exactly; write the quantity as a string`);
  try {
    return canonicalQuantity(value);
  } catch (cause) {
    if (!(cause instanceof QuantityError)) throw cause;
    throw new TypeMismatch(`${path}: ${quantityFault(value)}`, { cause });
  }
}

/** Checks base64; line breaks within the text are dropped, as Go's decoder does. */
function normalBase64(text: string, { path }: Place): string {
  const compact = text.replace(/[\r\n]/g, '');
  const bad = /[^A-Za-z0-9+/=]|=(?=[^=])/.exec(compact);
  if (bad || compact.length % 4 !== 0 || /={3,}$/.test(compact))
    throw new TypeMismatch(`${path}: illegal base64 data at input byte ${bad?.index ?? compact.length}`);
  return compact;
}
