/** Changes of labels as users write them: `tier=front old-`, as for `ctl label`. Pure. */
import { validateLabels } from '../../../../apimachinery/validate-meta.ts';

/** Values by key; null for a label that is removed. */
export type LabelChanges = Readonly<Record<string, string | null>>;

/** Reads the changes; returns the reason as a text if they cannot be made. */
export function labelChanges(text: string): LabelChanges | string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return 'Enter at least one label: KEY=VALUE to set it, KEY- to remove it.';
  const without = words.find((word) => !word.includes('=') && !/.-$/.test(word));
  if (without !== undefined)
    return `${without} has no value: write ${without}=VALUE, or ${without}- to remove it.`;
  const entries = words.map(changeOf);
  const changes = Object.fromEntries(entries);
  const twice = entries.find(([key], index) => entries.findIndex(([other]) => other === key) < index);
  if (twice) return `The label ${twice[0]} is named twice.`;
  const [fault] = validateLabels(
    Object.fromEntries(entries.map(([key, value]) => [key, value ?? ''])),
    'labels',
  );
  return fault ? `${fault.message}.` : changes;
}

function changeOf(word: string): [key: string, value: string | null] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word.slice(0, -1), null] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Returns `is labeled tier=front, and has no label old any more`. */
export function labelChangesText(changes: LabelChanges): string {
  const entries = Object.entries(changes);
  const set = entries.filter(([, value]) => value !== null).map(([key, value]) => `${key}=${value}`);
  const removed = entries.filter(([, value]) => value === null).map(([key]) => key);
  return [
    ...(set.length > 0 ? [`is labeled ${set.join(', ')}`] : []),
    ...(removed.length > 0 ? [`has no label ${removed.join(', ')} any more`] : []),
  ].join(', and ');
}
