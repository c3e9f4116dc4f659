/** Results of functions of objects that never change. Pure. */

/** Returns the function with its results kept as long as their objects live. */
export function remembered<K extends WeakKey, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}

/** Returns lists of values by key; a value is in the lists of all its keys. */
export function grouped<T>(
  values: readonly T[],
  keysOf: (value: T) => readonly string[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values)
    for (const key of keysOf(value)) {
      const group = groups.get(key);
      if (group) group.push(value);
      else groups.set(key, [value]);
    }
  return groups;
}
