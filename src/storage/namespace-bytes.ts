/**
 * How many bytes the objects of each namespace take, by their keys `/registry/<resource>/<namespace>/<name>`.
 */
export class NamespaceBytes {
  readonly #bytes = new Map<string, number>();

  /** An object that took `before` bytes, 0 for a new one, takes `after`; 0 of one that is gone. */
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

/** Undefined for an object of no namespace. */
function namespaceOf(key: string): string | undefined {
  const [, , , namespace, name] = key.split('/');
  return name === undefined ? undefined : namespace;
}
