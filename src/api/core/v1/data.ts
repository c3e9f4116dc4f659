/** The keyed contents of ConfigMaps and Secrets. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { checkConfigMapKey, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

type Data = Readonly<Record<string, string>>;

/** All values of one object together, decoded. */
export const maxDataBytes = 1024 * 1024;

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const isBase64 = (text: string) => base64.test(text);

/** How many bytes a base64 text stands for. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(text.length / 4) * 3 - padding;
}

export const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;

/** The UTF-8 bytes of a text as base64. */
export function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

export function validateDataKeys(data: Data, path: string): StatusCause[] {
  return Object.keys(data).flatMap((key) => nameCauses(`${path}[${key}]`, key, checkConfigMapKey));
}

/** The value is not repeated in the message: it may be a secret that was forgotten to encode. */
export function validateBase64(data: Data, path: string): StatusCause[] {
  return Object.entries(data)
    .filter(([, value]) => !isBase64(value))
    .map(([key]) => invalidCause(`${path}[${key}]`, '<value>', 'must be base64 encoded'));
}

interface MaybeImmutable {
  immutable?: boolean | undefined;
  data?: Data | undefined;
  binaryData?: Data | undefined;
}

const why = 'field is immutable when `immutable` is set';

/** Once `immutable` is set, neither it nor the data changes. */
export function validateImmutableData<T extends MaybeImmutable>(
  object: T,
  old: T,
  fields: readonly ('data' | 'binaryData')[],
): StatusCause[] {
  if (!old.immutable) return [];
  return [
    ...(object.immutable ? [] : [forbiddenCause('immutable', why)]),
    ...fields
      .filter((field) => !deepEqual(object[field] ?? {}, old[field] ?? {}))
      .map((field) => forbiddenCause(field, why)),
  ];
}
