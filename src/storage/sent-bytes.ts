/** Bytes that were sent to etcd of late: etcd's own sizes do not count them yet. */
const bucketMs = 100;

export class SentBytes {
  /** By tenths of a second; the oldest first. */
  #sent: { readonly at: number; bytes: number }[] = [];

  /** `now`: monotonic, in milliseconds. */
  add(bytes: number, now: number): void {
    const last = this.#sent.at(-1);
    if (last && now - last.at < bucketMs) last.bytes += bytes;
    else this.#sent.push({ at: now, bytes });
  }

  get sum(): number {
    return this.#sent.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Forgets what was sent before `since`. */
  forgetBefore(since: number): void {
    this.#sent = this.#sent.filter(({ at }) => at >= since);
  }
}
