/** A value that is replaced while it is in use, such as a certificate that is renewed. */
export interface Current<T> {
  readonly value: T;
  /** Calls `fn` with every later value, until the returned function is called. */
  onChange(fn: (value: T) => void): () => void;
}

/** Returns the value itself, or its newest state. */
export const latest = <T extends string>(value: T | Current<T>): T =>
  typeof value === 'string' ? value : value.value;

/** Calls `fn` after each change of the value, if it can change. Returns a function that ends the calls. */
export const onChangeOf = <T extends string>(value: T | Current<T>, fn: () => void): (() => void) =>
  typeof value === 'string' ? () => {} : value.onChange(fn);

export interface Replaceable<T> extends Current<T> {
  replace(value: T): void;
}

export function replaceable<T>(first: T): Replaceable<T> {
  const listeners = new Set<(value: T) => void>();
  let value = first;
  return {
    get value() {
      return value;
    },
    onChange(fn) {
      listeners.add(fn);
      return () => void listeners.delete(fn);
    },
    replace(next) {
      value = next;
      for (const listener of [...listeners]) listener(next);
    },
  };
}
