/**
 * Several texts packed into one key of a Map or a queue: two keys are equal exactly when all their parts are
 * equal.
 */

declare const parts: unique symbol;

export type PackedKey<P extends readonly string[]> = string & { readonly [parts]: P };

export const packKey = <P extends readonly string[]>(...packed: P): PackedKey<P> =>
  JSON.stringify(packed) as PackedKey<P>;

export const unpackKey = <P extends readonly string[]>(key: PackedKey<P>): P => JSON.parse(key);
