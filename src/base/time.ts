/** Times in Kubernetes' formats; pure, unlike the clock. */

/** Formats RFC 3339 with whole seconds: metav1.Time. `ms` is milliseconds since the Unix epoch. */
export function rfc3339(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Formats RFC 3339 with microseconds: metav1.MicroTime. */
export function rfc3339Micro(ms: number): string {
  return new Date(Math.floor(ms)).toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
}

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a duration in Go's format, such as `40s`, `1m30s`, `0.5h`, `500ms` or `0`; returns milliseconds.
 * Undefined for an invalid duration and for one with a sign.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?([nuµm]?s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)([nuµm]?s|m|h)/g))
    total += Number(amount) * (unitMs[unit] ?? 0);
  return total;
}

/** Formats whole seconds as Go does, as in `back-off 1m20s restarting failed container`. */
export function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const text = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${text}`;
  return minutes > 0 ? `${minutes}m${text}` : text;
}

/** Formats a duration with milliseconds, as in `345ms`, `1.5s` or `1m2.005s`. */
export function goExactDuration(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  if (whole > 0 && whole < 1000) return `${whole}ms`;
  const fraction = String(whole % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return fraction === '' ? goDuration(whole) : goDuration(whole).replace(/s$/, `.${fraction}s`);
}
