/**
 * Durations in a short form for people, as `kubectl get` shows them (k8s.io/apimachinery util/duration
 * HumanDuration).
 */
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/**
 * Formats milliseconds: 95000 → `95s`, 5 h 3 min → `5h3m`. A clock that is up to two seconds behind gives
 * `0s`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return two(seconds, minute, 'm', 1, 's');
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return two(seconds, hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return two(seconds, day, 'd', hour, 'h');
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return two(seconds, year, 'y', day, 'd');
  return `${Math.floor(seconds / year)}y`;
}

/** Returns the age for an RFC 3339 timestamp; `<unknown>` when the timestamp is missing or cannot be read. */
export function ageSince(timestamp: string | undefined, now: number): string {
  const then = timestamp ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(then) ? '<unknown>' : humanDuration(now - then);
}

function two(seconds: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)}${bigUnit}${rest ? `${rest}${smallUnit}` : ''}`;
}
