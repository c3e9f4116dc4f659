/** The keyed contents of ConfigMaps and Secrets. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause } from '../../../apimachinery/field-error.ts';
import { checkConfigMapKey, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

type Data = Readonly<Record<string, string>>;

/** Maximum size of all values of one object together, decoded. */
export const maxDataBytes = 1024 * 1024;

/** Returns the number of bytes that a base64 text represents. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor(text.length / 4) * 3 - padding;
}

export const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;

/** Returns the UTF-8 bytes of a text as base64. */
export function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

export function validateDataKeys(data: Data, path: string): StatusCause[] {
  return Object.keys(data).flatMap((key) => nameCauses(`${path}[${key}]`, key, checkConfigMapKey));
}

interface MaybeImmutable {
  immutable?: boolean | undefined;
  data?: Data | undefined;
  binaryData?: Data | undefined;
}

const why = 'field is immutable when `immutable` is set';

/** Rejects changes of an immutable object: neither `immutable` nor the data may change. */
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
