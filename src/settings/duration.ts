/** Durations in settings, as Kubernetes writes them: `40s`, `5m`, `1m30s`, `500ms`. */
import { parseDuration } from '../base/time.ts';

/**
 * Returns a reader of durations in milliseconds. The bounds are written as durations too, and the error for a
 * value outside the bounds names them.
 */
export function duration(least: string, most: string) {
  const [low, high] = [parseDuration(least), parseDuration(most)];
  if (low === undefined || high === undefined) throw new Error(`${least} to ${most} are not durations`);
  return (value: string): number => {
    const read = parseDuration(value);
    if (read === undefined || read < low || read > high) {
      throw new Error(`expected a duration from ${least} to ${most}, such as 10s or 1m30s`);
    }
    return read;
  };
}
