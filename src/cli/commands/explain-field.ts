/** Message of `ctl explain` for a field that does not exist. Pure. */
import { nearest } from '../../terminal/nearest.ts';

/** Returns kubectl's message, followed by the fields with similar names. */
export function noField(name: string, known: Iterable<string>): string {
  const meant = nearest(name, known);
  const hint = meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : '';
  return `field ${JSON.stringify(name)} does not exist${hint}`;
}
