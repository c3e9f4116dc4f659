/**
 * Total size in bytes of the objects of each namespace, by their keys
 * `/registry/<resource>/<namespace>/<name>`.
 */
export class NamespaceBytes {
  readonly #bytes = new Map<string, number>();

  /**
   * Records that an object changed its size from `before` to `after` bytes; `before` is 0 for a new one,
   * `after` is 0 for a removed one.
   */
  change(key: string, before: number, after: number): void {
    const namespace = namespaceOf(key);
    if (namespace === undefined) return;
    const bytes = this.of(namespace) + after - before;
    if (bytes > 0) this.#bytes.set(namespace, bytes);
    else this.#bytes.delete(namespace);
  }

  of(namespace: string): number {
    return this.#bytes.get(namespace) ?? 0;
  }
}

/** Returns the namespace of a key; undefined for a cluster-scoped object. */
function namespaceOf(key: string): string | undefined {
  const [, , , namespace, name] = key.split('/');
  return name === undefined ? undefined : namespace;
}
