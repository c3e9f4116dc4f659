/** Names of time zones, such as `Europe/Berlin` (upstream: validateTimeZone). */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

const part = /^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$/;

/**
 * Maximum length of a name, in characters. The longest name in IANA's table has 32. A name is split, matched
 * and looked up in one turn of the event loop, which 2 MB of text would block for a tenth of a second.
 */
const maxLength = 64;

export function validateTimeZone(zone: string, path: string): StatusCause[] {
  if (zone === '') return [invalidCause(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.length > maxLength) {
    const why = `unknown time zone: a name has at most ${maxLength} characters, this one has ${zone.length}`;
    return [invalidCause(path, `${zone.slice(0, maxLength)}…`, why)];
  }
  if (zone.toLowerCase() === 'local') {
    const why = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
    return [invalidCause(path, zone, why)];
  }
  return isTimeZone(zone) ? [] : [invalidCause(path, zone, `unknown time zone ${zone}`)];
}

/**
 * Returns true for a time zone in the spelling of the table. An offset such as `+01` is not a zone, although
 * Intl accepts it.
 */
export function isTimeZone(zone: string): boolean {
  if (zone.length > maxLength) return false;
  const parts = zone.split('/');
  if (zone.startsWith('+') || parts.some((one) => one === '.' || one === '..' || !part.test(one)))
    return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    return timeZone === zone || timeZone.toLowerCase() !== zone.toLowerCase();
  } catch {
    return false;
  }
}
