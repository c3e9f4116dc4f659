/** Times as Kubernetes writes them; pure, unlike the clock they come from. */

/** RFC 3339 with whole seconds: metav1.Time. `ms` is milliseconds since the Unix epoch. */
export function rfc3339(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** RFC 3339 with microseconds: metav1.MicroTime. */
export function rfc3339Micro(ms: number): string {
  return new Date(Math.floor(ms)).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}
