/** Fields of a kubelet's report, which may have any form. Pure. */

export type Json = Record<string, unknown>;

/** Returns an empty object for a value that is none. */
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** Returns the objects of a list; an empty list for a value that is none. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : []);

/** Returns an empty text for a value that is none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
