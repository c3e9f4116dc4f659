/** A cause in one line, where a whole explanation has no room. Pure. */
import type { Finding } from '../../why/rule.ts';

/** Returns what is wrong, with the first fact that shows it in brackets unless the sentence contains it. */
export function causeLine({ says, evidence = [] }: Finding): string {
  const [fact] = evidence.map((line) => oneLine(line));
  const text = oneLine(says);
  return fact === undefined || text.includes(fact) || fact.includes(text) ? text : `${text} (${fact})`;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
