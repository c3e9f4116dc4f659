/** The keys that end a connection to a terminal of a container and leave its program running. */
import { Transform, type TransformCallback } from 'node:stream';
import { UsageError } from '../../base/usage-error.ts';

export const usualDetachKeys = 'ctrl-p,ctrl-q';

/** Characters that `ctrl-` makes the codes 0 to 31 of. */
const controlled = '@abcdefghijklmnopqrstuvwxyz[\\]^_';

/** Returns the bytes of keys such as `ctrl-p,ctrl-q`, `DEL` or `q`. Throws UsageError for an unknown key. */
export function detachBytes(keys: string): Buffer {
  return Buffer.from(keys.split(',').map(byteOf));
}

function byteOf(key: string): number {
  const code = /^ctrl-.$/.test(key) ? controlled.indexOf(key.slice(-1)) : -1;
  if (code >= 0) return code;
  if (key === 'DEL') return 127;
  const byte = key.charCodeAt(0);
  if (key.length === 1 && byte < 128) return byte;
  throw new UsageError(`could not bind detach keys: Unknown character: '${key}'`);
}

/**
 * Passes typed bytes on until the keys were typed one after the other; `detached` then resolves. Bytes that
 * may begin the keys are held back until the next one is typed.
 */
export class DetachFilter extends Transform {
  readonly #keys: Buffer;
  readonly #detached = Promise.withResolvers<void>();
  #matched = 0;

  constructor(keys: Buffer) {
    super();
    this.#keys = keys;
  }

  get isDetached(): boolean {
    return this.#matched === this.#keys.length;
  }

  get detached(): Promise<void> {
    return this.#detached.promise;
  }

  override _transform(typed: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const passed: number[] = [];
    for (const byte of typed) {
      if (this.isDetached) break;
      this.#take(byte, passed);
    }
    if (this.isDetached) this.#detached.resolve();
    done(null, Buffer.from(passed));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.isDetached ? undefined : this.#keys.subarray(0, this.#matched));
  }

  /** Compares with the longest beginning of the keys that the bytes before this one still match. */
  #take(byte: number, passed: number[]): void {
    while (this.#matched > 0 && byte !== this.#keys[this.#matched]) {
      const held = this.#keys.subarray(0, this.#matched);
      let shorter = this.#matched - 1;
      while (shorter > 0 && !held.subarray(held.length - shorter).equals(this.#keys.subarray(0, shorter)))
        shorter--;
      passed.push(...held.subarray(0, held.length - shorter));
      this.#matched = shorter;
    }
    if (byte === this.#keys[this.#matched]) this.#matched++;
    else passed.push(byte);
  }
}
