/** Bytes that were sent to etcd recently, which etcd's own sizes do not include yet. */
const bucketMs = 100;

export class SentBytes {
  /** Bytes by tenths of a second, oldest first. */
  #sent: { readonly at: number; bytes: number }[] = [];

  /** `now` is a monotonic time in milliseconds. */
  add(bytes: number, now: number): void {
    const last = this.#sent.at(-1);
    if (last && now - last.at < bucketMs) last.bytes += bytes;
    else this.#sent.push({ at: now, bytes });
  }

  get sum(): number {
    return this.#sent.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Removes what was sent before `since`. */
  forgetBefore(since: number): void {
    this.#sent = this.#sent.filter(({ at }) => at >= since);
  }
}
